/** What every document of `fx dev` loads: the app, and what keeps it up to date. */

import '../browser/prepare.js'; // before React's renderer, which `start.js` imports

export { start } from '../../client/start.js';
export { develop } from '../browser/develop.js';
export { accept } from '../browser/latest.js';
