/** The plug-in that lets be looked at what elements are given when a page is rendered. */

import { isOfLibrary } from '../../worker/library.js';
import { LOOKED_AT, withChecks } from './set-html.js';

/**
 * @param {import('../../check/names.js').Tools} tools
 * @param {string} client folder of the client runtime
 * @returns {import('vite').Plugin}
 */
export function setHtmlPlugin(tools, client) {
  const file = `${client}/../render/set-html.js`;
  return {
    name: 'fx:set-html',
    enforce: 'pre',
    applyToEnvironment: ({ name }) => name === 'ssr',
    transform: {
      order: 'pre',
      filter: { id: /\.(fxl|md|m?[jt]sx?)$/, code: LOOKED_AT },
      handler(code, id) {
        if (isOfLibrary(id)) return null; // it has no elements, and is long
        const { program, errors } = tools.parse(id, code, { lang: 'tsx' });
        if (errors.length > 0) return null; // which the bundler reports
        const checked = withChecks(code, /** @type {any} */ (program), file);
        return checked === code ? null : { code: checked, map: null };
      },
    },
  };
}
