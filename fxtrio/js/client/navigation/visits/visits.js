/**
 * What navigations need, and the first page does not: a file of its own, which browsers load when a
 * navigation is likely (`APART` of `vite/config.js`).
 */

import { Arrivals } from './arrivals.js';
import { Payloads } from './payloads.js';
import { Router } from './router.js';
import { requestVisit } from './visit.js';

export { HeadWriter } from '../../head/writer.js';

/** @typedef {{ router: Router, payloads: Payloads }} Visits */

/**
 * Return the router of a document, and what it keeps.
 *
 * @param {object} options
 * @param {Window & typeof globalThis} options.window
 * @param {import('../browser.js').Browser} options.browser
 * @param {Omit<import('./router.js').Stage, 'arrive'>} options.stage
 * @param {Pick<Parameters<typeof requestVisit>[1], 'base' | 'build' | 'exported'>} options.app
 * @param {URL} options.shown what is on the screen
 * @returns {Visits}
 */
export function makeVisits({ window, browser, stage, app, shown: current }) {
  const fetch = window.fetch.bind(window);
  const now = () => performance.now();
  const payloads = new Payloads(
    (url, options) => requestVisit(url, { ...options, ...app, fetch }),
    now,
  );
  const arrivals = new Arrivals(window, browser);
  const whole = { ...stage, arrive: arrivals.arrive };
  return {
    router: new Router({ stage: whole, payloads, base: app.base, shown: current }),
    payloads,
  };
}
