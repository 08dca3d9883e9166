/** The code of the two entry modules: what the browser starts with, and the SSR bundle. Pure. */

/** @typedef {import('./plan.js').Plan} Plan */

export const CLIENT_ENTRY = 'virtual:fx/client';
export const SERVER_ENTRY = 'virtual:fx/server';
/** What pages without scripts load for their islands. */
export const ISLANDS_ENTRY = 'virtual:fx/islands';

/** Stands for the id of the build until everything that it depends on is there. */
export const BUILD_ID = '__FX__BUILD_ID__';

/**
 * Return the URL path that the app is mounted at, "" for the root.
 *
 * @param {Plan} plan
 */
export function baseOf({ base }) {
  return base.replace(/\/_fx\/$/, '');
}

/**
 * References to the chunks that are loaded when they are needed: `below` by an app that is served
 * below a path, `visits` when a navigation is likely.
 *
 * @typedef {{ below: string, visits: string }} Chunks
 */

/**
 * @param {Plan} plan
 * @param {string} client folder of the client runtime
 * @param {Chunks} chunks
 */
export function clientEntry(plan, client, { below, visits }) {
  const base = JSON.stringify(baseOf(plan));
  return [
    `import { start } from ${JSON.stringify(`${client}/start.js`)};`,
    `void start({ base: ${base}, below: ${loads(below)}, visits: ${loads(visits)} });`,
  ].join('\n');
}

/**
 * @param {Plan} plan
 * @param {string} client folder of the client runtime
 * @param {Chunks} chunks
 */
export function islandsEntry(plan, client, { below }) {
  return [
    `import { startIslands } from ${JSON.stringify(`${client}/view/islands/hydrate.js`)};`,
    `startIslands({ base: ${JSON.stringify(baseOf(plan))}, below: ${loads(below)} });`,
  ].join('\n');
}

/**
 * Return a function that loads a chunk. The bundler would add more to the runtime than it has, to
 * load an import that it knows.
 *
 * @param {string} chunk
 */
function loads(chunk) {
  return `() => import(/* @vite-ignore */ import.meta.ROLLUP_FILE_URL_${chunk})`;
}

/**
 * Return the SSR bundle's entry: all modules of the app, and for each view which of them.
 *
 * @param {Plan} plan
 * @param {string} render folder of what renders in a worker
 */
export function serverEntry(plan, render) {
  const names = new Map(plan.modules.map((source, index) => [source, `m${index}`]));
  /** @param {string} source */
  const name = (source) => names.get(source);
  const imports = plan.modules.map(
    (source) => `import * as ${name(source)} from ${JSON.stringify(`${plan.root}/${source}`)};`,
  );
  const views = plan.views.map(({ module, layouts, loading }) => {
    const around = layouts.map(([source]) => name(source)).join(', ');
    const fallback = loading === null ? 'null' : name(loading);
    return `  { page: ${name(module)}, layouts: [${around}], loading: ${fallback} },`;
  });
  return [
    `import { createRenderers } from ${JSON.stringify(`${render}/renderers.js`)};`,
    ...imports,
    'const views = [',
    ...views,
    '];',
    'export const { render, stream } = createRenderers({',
    `  base: ${JSON.stringify(baseOf(plan))},`,
    '  views,',
    '});',
    `export const pages = ${plan.views.length};`,
    `export const buildId = ${JSON.stringify(BUILD_ID)};`,
  ].join('\n');
}
