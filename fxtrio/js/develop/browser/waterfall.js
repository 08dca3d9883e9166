// Where the time of one request went, as bars in the panel: loaded when somebody opens it.

import { elementOf, sectionOf } from './problem-text.js';

/** @typedef {import('../settings.js').Shown} Shown */

/**
 * @typedef {{ kind: string, name: string, place: string, start: number, ms: number | null }} Part
 * @typedef {{ request: string, ms: number | null, parts: Part[] }} Timing
 */

/**
 * Return the part of the panel that is about a problem, with the time of its request.
 *
 * @param {Document} document
 * @param {Shown} problem
 * @param {string} editor URL that opens a place
 * @param {{ root: string, timings: string }} of the folder of the project, and the URL of the
 *   timings of the last requests; "" without one
 */
export function timedSectionOf(document, problem, editor, { root, timings }) {
  const section = sectionOf(document, problem, root, editor);
  if (timings !== '' && problem.request) {
    section.append(waterfallOf(document, problem.request, timings));
  }
  return section;
}

/**
 * Return a part of the panel with the parts of a request.
 *
 * @param {Document} document
 * @param {string} request its id
 * @param {string} url of the timings of the last requests
 */
function waterfallOf(document, request, url) {
  const box = document.createElement('details');
  box.className = 'waterfall';
  box.append(elementOf(document, 'summary', 'Where the time went'));
  const load = async () => {
    const headers = { accept: 'application/json' };
    const answer = await fetch(url, { headers }).catch(() => null);
    /** @type {Timing[]} */
    const timings = answer?.ok ? await answer.json() : [];
    const timing = timings.find((one) => one.request === request);
    box.append(
      timing === undefined
        ? elementOf(document, 'p', 'The server no longer has the timings of this request.')
        : listOf(document, timing),
    );
  };
  box.addEventListener('toggle', () => void load(), { once: true });
  return box;
}

/**
 * Return the parts in their order, each with a bar.
 *
 * @param {Document} document
 * @param {Timing} timing
 */
export function listOf(document, timing) {
  const whole = Math.max(timing.ms ?? 0, ...timing.parts.map((part) => endOf(part)), 0.01);
  const list = document.createElement('ol');
  for (const part of timing.parts) {
    const took = part.ms === null ? 'under way' : `${part.ms.toFixed(1)} ms`;
    const text = `${part.kind} ${part.name} ${part.place} ${took}`.replace(/ {2,}/g, ' ');
    const bar = document.createElement('i');
    bar.style.marginInlineStart = `${(100 * part.start) / whole}%`;
    bar.style.width = `${Math.max((100 * (endOf(part) - part.start)) / whole, 0.5)}%`;
    const item = elementOf(document, 'li', text);
    item.append(bar);
    list.append(item);
  }
  return list;
}

/** @param {Part} part */
function endOf(part) {
  return part.start + (part.ms ?? 0);
}
