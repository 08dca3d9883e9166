/**
 * Build an app: `node build.js TOOLCHAIN`, a plan as JSON on stdin, a result as JSON on stdout's last line.
 *
 * Started by `fxtrio/compile/bundling/bundle.py`. What plug-ins print goes to stderr.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { loadTools } from '../check/checker.js';
import { fontsPlugin } from '../fonts/plugin.js';
import { Pictures } from '../pictures/plugin.js';
import { islandsPlugin, keyOf } from '../scripts/islands/plugin.js';
import { setHtmlPlugin } from '../scripts/elements/plugin.js';
import { scriptsProof } from '../scripts/plugin.js';
import { clientOf, collectAssets, fileAssets } from './assets.js';
import { makeConfig, serverFile, serverFormat } from './config.js';
import { documentPlugins } from './documents.js';
import { BUILD_ID, ISLANDS_ENTRY } from './entries.js';
import { FEATURE_TEST, laterStreams, libraryModules } from './library/modules.js';
import { reactHome } from './library/packages.js';
import { flatten, problemsOf } from './problems.js';
import { Stylesheets } from './stylesheets.js';
import { loadsInThread } from '../trial/loads.js';
import { asScript, isScript } from '../worker/bundle.cjs';

/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {import('./plan.js').Result} Result */
/**
 * @typedef {Pick<import('./plan.js').Built,
 *   'islands' | 'islandsEntry' | 'islandMistakes' | 'islandDoubts'>} IslandResult
 */

/**
 * Warnings that tell a user nothing: `"use client"` means nothing here, and is welcome; how
 * long plug-ins took depends on the machine.
 */
const SILENT =
  /MODULE_LEVEL_DIRECTIVE|dynamic import will not move module|EMPTY_BUNDLE|PLUGIN_TIMINGS/;

/**
 * @param {Plan} plan
 * @param {ReturnType<typeof load>} loading
 * @returns {Promise<Result>}
 */
async function build(plan, loading) {
  process.env.NODE_ENV = plan.mode;
  const [vite, tools] = await loading;
  const client = vite.normalizePath(fileURLToPath(new URL('../client', import.meta.url)));
  /** @type {Set<string>} */
  const warnings = new Set();
  const sheets = new Stylesheets(plan.toolchain);
  const pictures = new Pictures(plan);
  try {
    const home = reactHome(plan.root, plan.toolchain);
    const logger = quietLogger(vite, warnings);
    const generated = [pictures.plugin(true), fontsPlugin(plan)];
    const documents = [...(await documentPlugins(plan.root)), ...generated];
    const proof = scriptsProof(tools, plan);
    const islands = islandsPlugin(tools, plan, client);
    const isFinal = plan.mode === 'production';
    const library = libraryModules();
    const html = setHtmlPlugin(tools, client);
    const server = serverFormat(vite.parseSync);
    const final = [library.plugin, laterStreams(), proof.plugin, islands.plugin, html];
    const proved = isFinal ? final : [];
    const beside = [sheets.plugin, server.plugin, ...proved];
    const hasIslands = islands.isFound;
    const known = { client, home, logger, parse: vite.parseSync, documents, beside, hasIslands };
    const built = await bundleBoth(
      (format) => vite.createBuilder(makeConfig(plan, known, format)),
      library,
      server,
    );
    const failures = built.filter((one) => one.status === 'rejected').map((one) => one.reason);
    if (failures.length > 0) {
      for (const error of flatten({ errors: failures })) sheets.place(error);
      return { ok: false, problems: problemsOf({ errors: failures }, plan, vite.parseSync) };
    }
    const [written, bundle] = built.map((one) => (one.status === 'fulfilled' ? one.value : null));
    const views = proof.proved();
    const { output } = /** @type {any} */ (written);
    const finished = await finish(plan, output, bundle, [...warnings]);
    const scripts = views.map(({ reasons }) => reasons);
    return { ...finished, scripts, ...islandAssets(plan, output, views, hasIslands()) };
  } catch (error) {
    return { ok: false, problems: problemsOf(error, plan, vite.parseSync) };
  } finally {
    pictures.close();
  }
}

/**
 * Bundle for browsers and, beside it, for workers.
 *
 * @param {(format: import('./config.js').Format) => Promise<import('vite').ViteBuilder>} make
 * @param {ReturnType<typeof libraryModules>} library
 * @param {ReturnType<typeof serverFormat>} server
 * @returns {Promise<PromiseSettledResult<any>[]>} the files for browsers, and the name of the server bundle
 */
async function bundleBoth(make, library, server) {
  const builder = await make('cjs');
  return Promise.allSettled([
    library.building(async (isAgain) => {
      const own = isAgain ? await make('cjs') : builder;
      return own.build(own.environments.client);
    }),
    server.building(async (format) => {
      const own = format === 'cjs' ? builder : await make(format);
      await own.build(own.environments.ssr);
      return serverFile(format);
    }),
  ]);
}

/**
 * Give the build its id, and describe it.
 *
 * @param {Plan} plan
 * @param {any[]} output of the browser's build
 * @param {string} server name of the server bundle
 * @param {string[]} warnings
 * @returns {Promise<Omit<import('./plan.js').Built, 'scripts' | keyof IslandResult>>}
 */
async function finish(plan, output, server, warnings) {
  const bundle = path.join(plan.staging, 'ssr', server);
  const code = await fs.readFile(bundle, 'utf8');
  const names = output.map((file) => file.fileName).filter((name) => !name.endsWith('.map'));
  const digest = createHash('sha256').update(plan.seed).update(code);
  for (const name of names.sort()) digest.update(`\n${name}`); // names hold digests of contents
  const buildId = digest.digest('hex').slice(0, BUILD_ID.length);
  const final = code.replaceAll(BUILD_ID, buildId);
  await fs.writeFile(bundle, isScript(bundle) ? asScript(final) : final);
  const assets = collectAssets(plan, output);
  const clients = plan.views.map((view) => clientOf(view, plan, assets, buildId));
  const loads = plan.mode === 'production' && (await loadsInThread(bundle, code, plan.mode));
  return { ok: true, buildId, server, ...assets, clients, loads, warnings };
}

/**
 * Return what brings islands to life, and of each view its islands with their files.
 *
 * @param {Plan} plan
 * @param {any[]} output of the browser's build
 * @param {import('../scripts/plugin.js').Proved[]} views
 * @param {boolean} hasIslands
 * @returns {IslandResult}
 */
function islandAssets(plan, output, views, hasIslands) {
  const islandMistakes = views.flatMap(({ mistakes }) => mistakes);
  const islandDoubts = views.flatMap(({ doubts }) => doubts);
  const findings = { islandMistakes, islandDoubts };
  if (!hasIslands) return { islands: [], islandsEntry: null, ...findings };
  const assets = fileAssets(plan, output);
  const entry = assets(`\0${ISLANDS_ENTRY}`);
  const shared = new Set([entry.module, ...entry.preload]);
  const islands = views.map(({ islands: found }) =>
    found.map(({ file, name, path: source, line, column, when }) => {
      const { module, preload } = assets(file);
      const files = [module, ...preload.filter((url) => !shared.has(url))];
      return { path: source, line, column, when, key: keyOf(plan, file, name), files };
    }),
  );
  return { islands, islandsEntry: entry, ...findings };
}

/** @param {string} toolchain */
function load(toolchain) {
  return Promise.all([loadVite(toolchain), loadTools(toolchain)]);
}

/**
 * @param {string} toolchain
 * @returns {Promise<typeof import('vite')>}
 */
async function loadVite(toolchain) {
  const require = createRequire(path.join(toolchain, 'package.json'));
  return import(pathToFileURL(require.resolve('vite')).href);
}

/**
 * @param {typeof import('vite')} vite
 * @param {Set<string>} warnings
 */
function quietLogger(vite, warnings) {
  const logger = vite.createLogger('silent');
  /** @param {string} message */
  const warn = (message) => {
    if (!SILENT.test(message) && !FEATURE_TEST.test(message)) warnings.add(message);
  };
  return { ...logger, warn, warnOnce: warn };
}

async function readPlan() {
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

console.log = console.error;
console.info = console.error;
console.debug = console.error;
const early = load(process.argv[2]); // while the plan is still being made
early.catch(() => {}); // reported when it is needed
const result = await build(await readPlan(), early);
process.stdout.write(`\n${JSON.stringify(result)}\n`);
