/** The plug-in that proves, beside the bundling of the browser's files, which views need no scripts. */

import { Proof } from './proof.js';

/** @typedef {import('./proof.js').Proved} Proved */

/**
 * @param {import('../check/names.js').Tools} tools
 * @param {import('../vite/plan.js').Plan} plan
 * @returns {{ plugin: import('vite').Plugin, proved: () => Proved[] }} `proved` is there, by the
 *   id of the view, when the browser's files are written
 */
export function scriptsProof(tools, plan) {
  /** @type {Proved[]} */
  let proved = [];
  /** @type {import('vite').Plugin} */
  const plugin = {
    name: 'fx:scripts',
    applyToEnvironment: ({ name }) => name === 'client',
    async buildEnd(error) {
      if (error) return;
      const proof = new Proof(tools, plan, async (specifier, importer) => {
        const found = await this.resolve(specifier, importer);
        return found === null || found.external ? undefined : found.id;
      });
      proved = await proof.proved();
    },
  };
  return { plugin, proved: () => proved };
}
