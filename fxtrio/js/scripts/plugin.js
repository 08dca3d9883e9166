/** The plug-in that proves, beside the bundling of the browser's files, which views need no scripts. */

import { Proof } from './proof.js';

/** @typedef {import('../vite/plan.js').ScriptReason} ScriptReason */

/**
 * @param {import('../check/names.js').Tools} tools
 * @param {import('../vite/plan.js').Plan} plan
 * @returns {{ plugin: import('vite').Plugin, reasons: () => ScriptReason[][] }} `reasons` are there,
 *   by the id of the view, when the browser's files are written
 */
export function scriptsProof(tools, plan) {
  /** @type {ScriptReason[][]} */
  let reasons = [];
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
      reasons = await proof.ofViews();
    },
  };
  return { plugin, reasons: () => reasons };
}
