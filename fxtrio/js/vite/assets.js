/** What was written, by source: the URLs of each module, and of each view what it needs. Pure. */

import { CLIENT_ENTRY, ISLANDS_ENTRY } from './entries.js';

/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {import('./plan.js').ViewPlan} ViewPlan */
/** @typedef {import('./plan.js').FileAssets} FileAssets */

/**
 * What is read of a chunk.
 *
 * @typedef {object} Chunk
 * @property {'chunk'} type
 * @property {string} fileName
 * @property {string | null} [facadeModuleId]
 * @property {string[]} [moduleIds] of the modules that it holds
 * @property {string[]} imports
 * @property {{ importedCss: Iterable<string> }} [viteMetadata]
 */

/**
 * Return the URLs of every entry: its module, its stylesheets (those of what it imports first)
 * and the chunks that it imports.
 *
 * @param {Plan} plan
 * @param {readonly (Chunk | { type: 'asset' })[]} output
 * @returns {{ entry: FileAssets, files: Record<string, FileAssets> }}
 */
export function collectAssets(plan, output) {
  const assets = fileAssets(plan, output);
  /** @type {Record<string, FileAssets>} */
  const files = {};
  for (const source of plan.modules) files[source] = assets(`${plan.root}/${source}`);
  return { entry: assets(`\0${CLIENT_ENTRY}`), files };
}

/**
 * Return a function that returns the URLs of an entry.
 *
 * @param {Pick<Plan, 'base'>} plan
 * @param {readonly (Chunk | { type: 'asset' })[]} output
 * @returns {(id: string) => FileAssets}
 */
export function fileAssets(plan, output) {
  const chunks = /** @type {Chunk[]} */ (output.filter((file) => file.type === 'chunk'));
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const byModule = new Map(chunks.map((chunk) => [chunk.facadeModuleId ?? '', chunk]));
  const starts = [`\0${CLIENT_ENTRY}`, `\0${ISLANDS_ENTRY}`];
  return (id) => {
    const chunk = starts.includes(id)
      ? chunks.find(({ moduleIds }) => moduleIds?.includes(id))
      : byModule.get(id);
    if (chunk === undefined) throw new Error(`${id} has no chunk of its own.`);
    return assetsOf(chunk, byName, plan.base);
  };
}

/**
 * @param {Chunk} entry
 * @param {Map<string, Chunk>} byName
 * @param {string} base
 * @returns {FileAssets}
 */
function assetsOf(entry, byName, base) {
  /** @type {Set<string>} */
  const css = new Set();
  /** @type {Set<string>} */
  const seen = new Set();
  /** @param {Chunk} chunk */
  const visit = (chunk) => {
    if (seen.has(chunk.fileName)) return;
    seen.add(chunk.fileName);
    for (const name of chunk.imports) {
      const imported = byName.get(name);
      if (imported !== undefined) visit(imported);
    }
    for (const name of chunk.viteMetadata?.importedCss ?? []) css.add(name);
  };
  visit(entry);
  seen.delete(entry.fileName);
  const url = (/** @type {string} */ name) => `${base}${name}`;
  return {
    module: url(entry.fileName),
    css: [...css].map(url),
    preload: [...seen].map(url),
  };
}

/**
 * Return the `page` object of a view's states (`View.client` of the manifest).
 *
 * @param {ViewPlan} view
 * @param {Pick<Plan, 'views'>} plan
 * @param {{ entry: FileAssets, files: Record<string, FileAssets> }} assets
 * @param {string} buildId
 */
export function clientOf(view, plan, { entry, files }, buildId) {
  const inner = files[view.module];
  const around = view.layouts.map(([source]) => files[source]);
  const loading = view.loading === null ? null : files[view.loading];
  const needed = [...around, ...(loading === null ? [] : [loading]), inner];
  const modules = [...around, inner].map(({ module }) => module);
  const loaded = new Set([entry.module, ...entry.preload, ...modules]);
  const fallback = loading === null ? [] : [loading.module];
  const preload = new Set([...fallback, ...needed.flatMap((file) => file.preload)]);
  const boundaries = standIns(view, plan, files);
  return {
    build: buildId,
    module: inner.module,
    layouts: view.layouts.map(([source, isTemplate]) => ({
      module: files[source].module,
      ...(isTemplate && { template: true }),
    })),
    ...listed('css', new Set(needed.flatMap((file) => file.css))),
    ...listed(
      'preload',
      [...preload].filter((url) => !loaded.has(url)),
    ),
    ...(loading !== null && { loading: { module: loading.module, depth: loadingDepth(view) } }),
    ...(boundaries.length > 0 && { boundaries }),
  };
}

/**
 * Return a list under its name; nothing for an empty one, since every page is sent with it.
 *
 * @param {string} name
 * @param {Iterable<string>} urls
 */
function listed(name, urls) {
  const list = [...urls];
  return list.length > 0 ? { [name]: list } : {};
}

/**
 * Return how many layouts are around the loading fallback: those of its folder and above.
 *
 * @param {ViewPlan} view
 */
export function loadingDepth({ layouts, loading }) {
  const folder = folderOf(loading ?? '');
  const outside = layouts.findIndex(([source]) => !`${folder}/`.startsWith(`${folderOf(source)}/`));
  return outside === -1 ? layouts.length : outside;
}

/**
 * Return the error pages that can stand inside of the view's own layouts, nearest first.
 *
 * @param {ViewPlan} view
 * @param {Pick<Plan, 'views'>} plan
 * @param {Record<string, FileAssets>} files
 */
function standIns(view, plan, files) {
  return view.boundaries
    .map((id) => plan.views[id])
    .filter(({ id, layouts }) => id !== view.id && isPrefix(layouts, view.layouts))
    .map(({ module, layouts }) => ({
      module: files[module].module,
      depth: layouts.length,
      ...(files[module].css.length > 0 && { css: files[module].css }),
    }));
}

/**
 * @param {[string, boolean][]} outer
 * @param {[string, boolean][]} all
 */
function isPrefix(outer, all) {
  return outer.every(([source], index) => all[index]?.[0] === source);
}

/** @param {string} source */
function folderOf(source) {
  return source.slice(0, source.lastIndexOf('/'));
}
