/**
 * The Node process of `fx dev`: Vite for the browser, and the renderer of pages.
 *
 *     node main.js [FILE [TOOLCHAIN]]
 *
 * For the next start, it keeps all of its modules in FILE (`runtime/command.js`). TOOLCHAIN is that
 * of the last start, which it loads before it is told where the toolchain is.
 * It is told what to do by lines of JSON on stdin, the settings first (`Settings`), and answers
 * on stdout. It listens on three Unix sockets of one folder: `http` (what browsers load), `ssr`
 * (frames, docs/wire.md) and `hot` (one connection for each browser). It ends when stdin does.
 */

import { EventEmitter } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { Level, replaceConsole, writeLog } from '../worker/log.cjs';
import { refuseSignals } from '../worker/signals.cjs';
import { Access } from './access.js';
import { Browsers } from './browsers.js';
import { Changes } from './updates/changes.js';
import { answerFrames } from './frames-socket.js';
import { discoverPackages, quietness } from './packages/discovery.js';
import { freeWhenIdle } from './idle-memory.js';
import { Mistakes } from './checks/background.js';
import { bundlePackages } from './packages/packages-process.js';
import { PlainPages } from './checks/plain-pages.js';
import { Places } from './places.js';
import { keepCommand } from './runtime/command.js';
import { RuntimeFiles } from './runtime/served.js';
import { loadTools, makeServer } from './server.js';
import { Site } from './site.js';
import { pagesThatNeed } from './updates/users.js';
import { Views } from './views.js';
import { Stacks } from '../worker/stacks.cjs';

/** @typedef {import('./packages/discovery.js').Packages} Packages */
/** @typedef {import('./settings.js').Settings} Settings */

/**
 * @param {import('node:net').Server} server
 * @param {string} place
 */
function listen(server, place) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => resolve(undefined));
  });
}

/**
 * Return what serves modules to browsers.
 *
 * @param {Settings} settings
 * @param {Site} site
 * @param {Access} access
 * @param {Views} views
 * @param {Awaited<ReturnType<typeof makeServer>>} dev
 */
function moduleServer(settings, site, access, views, { server, runtime, pictures }) {
  const files = new RuntimeFiles(settings, runtime);
  site.preload = files.preload;
  const web = http.createServer(async (request, response) => {
    await site.planned;
    const missing = () => {
      response.statusCode = 404;
      response.end('Not found');
    };
    if (files.answer(request.url ?? '', response)) return;
    if (await pictures.respond(request.url ?? '', response)) return;
    const isAllowed = () => access.allows(request.url ?? '');
    if (!isAllowed()) await views.prepared; // a document may have named it before it was made
    if (isAllowed()) server.middlewares(request, response, missing);
    else missing();
  });
  web.keepAliveTimeout = 0; // the server process keeps its connections
  return web;
}

/**
 * @param {Settings} settings
 * @returns {Promise<(message: any) => Promise<object>>} answers one message
 */
async function begin(settings) {
  Object.assign(process.env, { NODE_ENV: 'development' }, settings.variables);
  const site = new Site(settings);
  const browsers = new Browsers();
  const settled = new EventEmitter();
  const { quiet, requested: busy } = quietness();
  const found = discoverPackages(site, settings.root, quiet, bundlePackages.bind(null, settings));
  const dev = await makeServer(settings, site, browsers, settled, found);
  const { vite, server, runtime } = dev;
  const access = new Access(settings, site, server, runtime);
  const views = new Views(settings, site, dev);
  void new Places(settings, site, server, browsers);
  void new PlainPages(settings, site, server, browsers);
  const mistakes = new Mistakes();
  browsers.pagesOf = (file) => pagesThatNeed(server, site, file);
  const changes = new Changes(settings.root, server, site, browsers, vite, settled);
  const collected = freeWhenIdle();
  const requested = () => (collected(), busy());
  void quiet.then(() => keepCommand(settings.toolchain));
  const web = moduleServer(settings, site, access, views, dev).on('request', requested);
  const place = (/** @type {string} */ name) => path.join(settings.sockets, name);
  await Promise.all([
    listen(web, place('http')),
    listen(
      net.createServer((socket) => answerFrames(socket.on('data', requested), views)),
      place('ssr'),
    ),
    listen(
      net.createServer((socket) => browsers.add(socket)),
      place('hot'),
    ),
  ]);
  /** @type {Record<string, (message: any) => Promise<object> | object>} */
  const operations = {
    site: ({ plan, more }) => {
      const described = plan === undefined ? site.add(more) : site.plan(plan);
      if (browsers.isHeard) views.prepare(site.added);
      return described;
    },
    change: (message) => changes.apply(message),
    problems: ({ key, problems }) => browsers.setProblems(key, problems) ?? {},
    look: (message) => mistakes.look(message),
    warm: ({ pages }) => views.warm(pages, { busy, quiet }), // checks begin then
  };
  return async (message) => {
    if (message.op === 'ping') return {};
    requested();
    return operations[message.op](message);
  };
}

/** @param {string} toolchain which may have been removed */
async function loadEarly(toolchain) {
  try {
    await loadTools(toolchain);
  } catch {
    // Whoever needs the one of the settings learns why it cannot be loaded.
  }
}

async function main() {
  replaceConsole();
  refuseSignals();
  const stacks = new Stacks();
  const report = (/** @type {unknown} */ error) => writeLog(Level.ERROR, stacks.text(error));
  process.on('unhandledRejection', report);
  process.on('uncaughtException', report);
  const [, , , toolchain] = process.argv;
  if (toolchain !== undefined) void loadEarly(toolchain);
  const say = (/** @type {object} */ message) =>
    process.stdout.write(`${JSON.stringify(message)}\n`);
  /** @type {Promise<(message: any) => Promise<object>> | null} */
  let answering = null;
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (answering === null) {
      answering = begin(message);
      answering.then(
        () => say({ ready: true }),
        (error) => say({ failed: String(error?.stack ?? error) }),
      );
      continue;
    }
    answering
      .then((answer) => answer(message))
      .then(
        (done) => say({ id: message.id, done }),
        (error) => say({ id: message.id, failed: String(error?.stack ?? error) }),
      );
  }
  process.exit(0);
}

await main();
