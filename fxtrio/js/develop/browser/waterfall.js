// Where the time of requests went, as bars in the panel: loaded when somebody opens it.

import { elementOf, sectionOf } from './problem-text.js';

/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */

/**
 * @typedef {{
 *   kind: string, name: string, place: string, start: number, ms: number | null,
 *   rows: number | null, error: string,
 * }} Part times in milliseconds since the request began; `ms` is null while it runs
 * @typedef {{ sql: string, place: string, count: number }} Repeated
 * @typedef {{
 *   kind: string, name: string, request: string, status: number | null, ms: number | null,
 *   parts: Part[], repeated: Repeated[],
 * }} Timing
 */

/**
 * Return the timings of the last requests, the newest first; none where the server has none.
 *
 * @param {string} url
 * @returns {Promise<Timing[]>}
 */
export async function loadTimings(url) {
  const headers = { accept: 'application/json' };
  const answer = await fetch(url, { headers }).catch(() => null);
  return answer?.ok ? answer.json() : [];
}

/**
 * Return the part of the panel that is about a problem, with the time of its request.
 *
 * @param {Document} document
 * @param {OverlayProblem} problem
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
    const timing = (await loadTimings(url)).find((one) => one.request === request);
    const missing = 'The server no longer has the timings of this request.';
    box.append(...(timing ? partsOf(document, timing) : [elementOf(document, 'p', missing)]));
  };
  box.addEventListener('toggle', () => void load(), { once: true });
  return box;
}

/**
 * Return the part of the panel that is about the last requests of the page, the newest open.
 *
 * @param {Document} document
 * @param {Timing[]} timings
 */
export function requestsOf(document, timings) {
  const section = document.createElement('section');
  section.append(elementOf(document, 'h2', 'Where the time of this page went'));
  if (timings.length === 0) {
    const text = 'The server no longer has the timings of its requests. Reload the page.';
    section.append(elementOf(document, 'p', text));
  }
  for (const [index, timing] of timings.entries()) {
    const box = document.createElement('details');
    if (index === 0) box.setAttribute('open', '');
    const name = timing.kind === 'request' ? timing.name : `${timing.kind} ${timing.name}`;
    const head = [name, timing.status ?? '', tookOf(timing)].filter(Boolean).join(' ');
    box.append(elementOf(document, 'summary', head), ...partsOf(document, timing));
    section.append(box);
  }
  return section;
}

/**
 * @param {Document} document
 * @param {Timing} timing
 */
function partsOf(document, timing) {
  const repeated = timing.repeated.map(({ count, sql, place }) =>
    elementOf(
      document,
      'p',
      `The same query ran ${count} times: ${sql} at ${place}. Fetch all rows with one query.`,
    ),
  );
  return [...repeated, listOf(document, timing)];
}

/**
 * Return the parts in their order, each with a bar.
 *
 * @param {Document} document
 * @param {Pick<Timing, 'ms' | 'parts'>} timing
 */
export function listOf(document, timing) {
  const whole = Math.max(timing.ms ?? 0, ...timing.parts.map((part) => endOf(part)), 0.01);
  const list = document.createElement('ol');
  for (const part of timing.parts) {
    const { kind, name, place, rows, error } = part;
    const count = rows === null ? '' : `${rows} ${rows === 1 ? 'row' : 'rows'}`;
    const text = [kind, name, place, count, error, tookOf(part)].filter(Boolean).join(' ');
    const bar = document.createElement('i');
    bar.style.marginInlineStart = `${(100 * part.start) / whole}%`;
    bar.style.width = `${Math.max((100 * (endOf(part) - part.start)) / whole, 0.5)}%`;
    const item = elementOf(document, 'li', text);
    item.append(bar);
    list.append(item);
  }
  return list;
}

/** @param {{ ms: number | null }} timed */
function tookOf({ ms }) {
  return ms === null ? 'in progress' : `${ms.toFixed(1)} ms`;
}

/** @param {Part} part */
function endOf(part) {
  return part.start + (part.ms ?? 0);
}
