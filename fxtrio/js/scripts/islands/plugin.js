/**
 * The plug-in for islands: what they show gets a file of its own, which browsers load alone, and the
 * server learns which that is.
 */

import path from 'node:path';

import { ISLANDS_ENTRY } from '../../vite/entries.js';
import { importsByName, islandsOf } from './islands.js';

/** What may be an island in a text: few texts are looked at further. */
const MENTIONED = /\bIsland\b/;

/**
 * @param {import('../../check/names.js').Tools} tools
 * @param {import('../../vite/plan.js').Plan} plan
 * @param {string} client folder of the client runtime
 * @returns {{ plugin: import('vite').Plugin, isFound: () => boolean }} `isFound` is known when all
 *   modules have been read
 */
export function islandsPlugin(tools, plan, client) {
  const registry = `${client}/view/islands/registry.js`;
  let isFound = false;
  /** @type {import('vite').Plugin} */
  const plugin = {
    name: 'fx:islands',
    enforce: 'pre',
    transform: {
      order: 'pre',
      filter: { id: /\.(fxl|md|[jt]sx)$/, code: MENTIONED },
      async handler(code, id) {
        const { program, errors } = tools.parse(id, code, { lang: 'tsx' });
        if (errors.length > 0) return null; // which the bundler reports
        const tree = /** @type {any} */ (program);
        const { sites } = islandsOf(tree, importsByName(tree));
        /** @type {[local: string, key: string][]} */
        const known = [];
        for (const { tag, specifier, name } of sites) {
          const found = await this.resolve(specifier, id);
          if (found === null || found.external) continue;
          known.push([tag.name.name, keyOf(plan, found.id, name)]);
          if (this.environment.name !== 'client') continue;
          isFound = true;
          this.emitFile({ type: 'chunk', id: ISLANDS_ENTRY, name: 'islands' });
          if (plan.modules.includes(sourceOf(plan, found.id))) continue; // has its file already
          this.emitFile({ type: 'chunk', id: found.id, name: nameOf(plan, found.id) });
        }
        if (known.length === 0 || this.environment.name === 'client') return null;
        const calls = known.map(
          ([local, key]) => `__fx_island(() => ${local}, ${JSON.stringify(key)});`,
        );
        const imported = `import { register as __fx_island } from ${JSON.stringify(registry)};`;
        const placed = withPlaces(code, sites, sourceOf(plan, id));
        return { code: [placed, imported, ...calls].join('\n'), map: null };
      },
    },
  };
  return { plugin, isFound: () => isFound };
}

/**
 * Return code whose islands know where they stand, for messages. Its lines are the same.
 *
 * @param {string} code
 * @param {import('./islands.js').Site[]} sites
 * @param {string} source
 */
function withPlaces(code, sites, source) {
  let placed = code;
  for (const { element } of sites.toReversed()) {
    const end = element.openingElement.end - 1;
    const line = code.slice(0, element.start).split('\n').length;
    const place = JSON.stringify(`${source}:${line}`);
    placed = `${placed.slice(0, end)} place={${place}}${placed.slice(end)}`;
  }
  return placed;
}

/**
 * Return what an island's component is called in a build.
 *
 * @param {import('../../vite/plan.js').Plan} plan
 * @param {string} file
 * @param {string} name of the export
 */
export function keyOf(plan, file, name) {
  return `${sourceOf(plan, file)}#${name}`;
}

/**
 * @param {import('../../vite/plan.js').Plan} plan
 * @param {string} file
 */
function sourceOf(plan, file) {
  return path.relative(plan.root, file).split(path.sep).join('/');
}

/**
 * @param {import('../../vite/plan.js').Plan} plan
 * @param {string} file
 */
function nameOf(plan, file) {
  const words =
    sourceOf(plan, file)
      .replace(/\.\w+$/, '')
      .match(/[A-Za-z0-9]+/g) ?? [];
  return words.slice(-3).join('-').toLowerCase() || 'island';
}
