import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { mock, test } from 'node:test';

import { Versions } from '../../../develop/browser/versions.js';
import { Unloaded } from '../../../develop/updates/unloaded.js';
import { startClient } from './vite-client.js';

/** How many orders of events are tried. */
const SEEDS = Number(process.env.FX_SEEDS ?? 300);

const PAGES = ['/a.fxl.tsx', '/b.fxl.tsx', '/c.fxl.tsx'];
const PARTS = ['/one.jsx', '/two.jsx'];
const PLAIN = '/plain.js';
/** What modules import. Those of pages and parts take updates of themselves. */
const IMPORTS = /** @type {Record<string, string[]>} */ ({
  '/a.fxl.tsx': ['/one.jsx', PLAIN],
  '/b.fxl.tsx': ['/two.jsx'],
  '/c.fxl.tsx': ['/two.jsx', '/one.jsx'],
  '/two.jsx': ['/one.jsx'],
  '/one.jsx': [PLAIN],
  [PLAIN]: [],
});

/** @param {string} path */
function importersOf(path) {
  return Object.keys(IMPORTS).filter((other) => IMPORTS[other].includes(path));
}

/**
 * A sequence of numbers below a limit that a seed determines.
 *
 * @param {number} seed
 */
function randomOf(seed) {
  let state = seed * 2_654_435_761 + 1;
  return (/** @type {number} */ limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** @typedef {{ path: string, text: number, plain?: Module }} Module that has come to life */

/** The files, and what Vite's module graph and `updates/changes.js` make of their changes. */
class Server {
  clock = 1_700_000_000_000;
  number = 0;
  files = Object.fromEntries(
    Object.keys(IMPORTS).map((path) => [path, { text: 1, throws: false }]),
  );
  /** @type {Record<string, number>} */
  stamps = {};
  unloaded = new Unloaded();
  /** @type {((message: object) => void)[]} one for each browser */
  send = [];

  /** @param {string} path */
  answer(path) {
    const own = PARTS.includes(path) ? [path] : []; // for React Fast Refresh
    const imports = [...IMPORTS[path], ...own].map((one) =>
      this.stamps[one] ? `${one}?t=${this.stamps[one]}` : one,
    );
    return { ...this.files[path], imports };
  }

  /** @param {Record<string, boolean>} saved whether the new text of each throws */
  save(saved) {
    const unloaded = this.unloaded.begin(this.number);
    for (const [path, throws] of Object.entries(saved)) {
      this.files[path] = { text: this.files[path].text + 1, throws };
    }
    for (const path of Object.keys(saved)) this.emit(path);
    this.unloaded.end(this.number);
    for (const path of unloaded) if (!(path in saved)) this.emit(path);
    this.say({ type: 'custom', event: 'fx:settled', data: {} });
  }

  /** @param {string} path */
  emit(path) {
    this.clock += 1;
    const timestamp = this.clock;
    const seen = new Set([path]);
    const accepting = new Set();
    const above = new Set([path]);
    for (const one of seen) {
      this.stamps[one] = timestamp;
      for (const [other, names] of Object.entries(IMPORTS)) {
        if (names.includes(one)) seen.add(other);
      }
    }
    for (const one of above) {
      if (one !== PLAIN) accepting.add(one);
      else importersOf(one).forEach((other) => above.add(other));
    }
    const updates = [...accepting].map((one) => ({
      ...{ type: 'js-update', path: one, acceptedPath: one, timestamp },
    }));
    this.say({ type: 'update', updates });
  }

  /** @param {object} message */
  say(message) {
    this.number += 1;
    for (const send of this.send) send({ number: this.number, ...message });
  }

  /**
   * @param {string} url
   * @param {number} number
   * @param {number} [version]
   */
  retell(url, number, version) {
    if (!this.unloaded.add(url, number, version) || !this.unloaded.take(url)) return;
    this.emit(url);
    this.unloaded.reportedAgain(url, this.stamps[url]);
    this.say({ type: 'custom', event: 'fx:settled', data: {} });
  }
}

/**
 * A browser with the modules of one document, whose network is as slow as `later` says.
 *
 * @param {Server} server
 * @param {(act: () => void) => void} later calls `act` at some time, in any order
 * @param {(act: () => void) => void} inOrder the same, in this order
 */
function open(server, later, inOrder) {
  const versions = new Versions();
  /** @type {Map<string, Promise<Module>>} */
  const modules = new Map();
  /** @type {Record<string, Module>} what pages and parts are shown with, by path */
  const newest = {};
  const once = () => new Promise((resolve) => later(() => resolve(undefined)));

  /**
   * @param {string} url
   * @returns {Promise<Module>}
   */
  function load(url) {
    const known = modules.get(url);
    if (known !== undefined) return known;
    const module = run(url);
    module.catch(() => {});
    modules.set(url, module);
    return module;
  }

  /**
   * @param {string} url
   * @returns {Promise<Module>}
   */
  async function run(url) {
    const [path] = url.split('?');
    await once();
    const { text, throws, imports } = server.answer(path);
    await once();
    const imported = await Promise.all(imports.filter((one) => one !== url).map(load));
    const hot = client.hotOf(path);
    const plain = /** @type {Module[]} */ (imported).find((one) => one.path === PLAIN);
    const module = { path, text, plain };
    if (PAGES.includes(path)) {
      hot.accept((/** @type {any} */ next) => next && (newest[path] = next));
    }
    if (throws) throw new Error(`of ${path}`);
    if (PARTS.includes(path)) newest[path] = module;
    if (PARTS.includes(path)) queueMicrotask(() => hot.accept(() => {}));
    if (path !== PLAIN) hot.loaded(url);
    return module;
  }

  const client = startClient(versions, load);
  const retell = (/** @type {string} */ url, number = 0, version = Infinity) =>
    inOrder(() => server.retell(url, number, version));
  const hot = client.hotOf('\0entry');
  hot.on('vite:afterUpdate', (/** @type {any} */ { number }) => {
    for (const { path } of versions.takeFailures()) retell(path, number);
  });
  versions.reportOld((path) => retell(path, 0, versions.newestOf(path)));
  server.send.push((message) => inOrder(() => client.hear(message)));
  return {
    newest,
    /** @param {string} path of a page that is navigated to */
    async go(path) {
      const announced = versions.announcedOf(path);
      const module = await load(`${path}?import${announced ? `&t=${announced}` : ''}`);
      newest[path] ??= module;
    },
  };
}

/**
 * Let a random order of saves, mistakes, navigations and answers happen.
 *
 * @param {number} seed
 */
async function play(seed) {
  const random = randomOf(seed);
  const server = new Server();
  /** @type {(() => void)[]} */
  const free = [];
  /** @type {(() => void)[]} */
  const line = [];
  const browser = open(
    server,
    (act) => free.push(act),
    (act) => line.push(act),
  );
  const step = async () => {
    const ordered = random(2) === 0 && line.length > 0;
    const act = ordered ? line.shift() : free.splice(random(free.length), 1)[0];
    act?.();
    await setImmediate();
  };
  const paths = Object.keys(IMPORTS);
  const removed = new Set();
  for (let left = 25; left > 0; left -= 1) {
    const what = random(6);
    if (what < 2) {
      const some = Array.from({ length: 1 + random(2) }, () => paths[random(paths.length)]);
      server.save(Object.fromEntries(some.map((path) => [path, random(3) === 0])));
    } else if (what === 2) {
      const path = PAGES[random(PAGES.length)];
      if (!removed.has(path)) browser.go(path).catch(() => removed.delete(path)); // it leaves for it
      removed.add(path);
    } else await step();
  }
  const throwing = paths.filter((path) => server.files[path].throws);
  for (const path of throwing) {
    if (random(2) === 0) await step();
    server.save({ [path]: false });
  }
  while (free.length + line.length > 0) await step();
  await setImmediate();
  for (const module of Object.values(browser.newest)) {
    for (const { path, text } of [module, module.plain ?? module]) {
      assert.equal(text, server.files[path].text, `seed ${seed}: ${path} of ${module.path}`);
    }
  }
  return Object.keys(browser.newest).length;
}

test('whatever order saves, mistakes, loads and answers come in, the newest is shown', async () => {
  let rendered = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) rendered += await play(seed);
  assert.ok(rendered > SEEDS, 'pages come to life');
});

test('what several browsers report of a part ends, though loads take longer than messages', async () => {
  const server = new Server();
  /** @type {(() => void)[]} */
  const free = [];
  /** @type {(() => void)[]} */
  const line = [];
  const browsers = ['/a.fxl.tsx', '/b.fxl.tsx', '/c.fxl.tsx'].map((page) => {
    const browser = open(
      server,
      (act) => free.push(act),
      (act) => line.push(act),
    );
    browser.go(page);
    return browser;
  });
  // Whatever was asked for last comes first in a turn now and then: newer modules before older.
  const settle = async (/** @type {number} */ most) => {
    for (let step = 0; free.length + line.length > 0; step += 1) {
      assert.ok(step < most, 'it never ends');
      const act = line.shift() ?? (step % 5 === 0 ? free.pop() : free.shift());
      act?.();
      await setImmediate();
    }
  };
  await settle(200);

  server.save({ '/one.jsx': false });
  server.save({ '/one.jsx': false });
  await settle(200);

  for (const { newest } of browsers) assert.equal(newest['/one.jsx'].text, 3);
});

test('a module that comes to life after a newer text of it was told, or lived, is reported', () => {
  const versions = new Versions();
  /** @type {string[]} */
  const old = [];
  versions.live('/early.jsx', 0);
  versions.tell({ path: '/late.jsx', acceptedPath: '/late.jsx', timestamp: 2 });
  versions.live('/late.jsx', 0);
  versions.reportOld((path) => old.push(path));
  versions.live('/late.jsx', 2);
  versions.live('/two.jsx', 2);
  assert.deepEqual(old, ['/late.jsx']);
  versions.live('/two.jsx', 1); // what it imports has asked for it earlier
  assert.deepEqual(old, ['/late.jsx', '/two.jsx']);
});

test('an update that is told once more is the newest one', () => {
  const versions = new Versions();
  const timestampOf = (/** @type {number} */ timestamp) =>
    versions.tell({ path: '/a.jsx', acceptedPath: '/a.jsx', timestamp }).timestamp;
  assert.deepEqual([timestampOf(1), timestampOf(3), timestampOf(1)], [1, 3, 3]);
});

test('what a module has accepted it takes after it has thrown, and others take theirs', async () => {
  const versions = new Versions();
  /** @type {unknown[]} */
  const taken = [];
  const reported = mock.fn();
  /** @type {any} */ (globalThis).reportError = reported;
  const client = startClient(versions, async (url) => {
    if (url !== '/a.jsx?t=1') return { url };
    client.hotOf('/a.jsx'); // as it begins
    throw new Error('of a');
  });
  client.hotOf('/a.jsx').accept((/** @type {any} */ next) => next && taken.push(next.url));
  client.hotOf('/b.jsx').accept(() => {
    throw new Error('of b');
  });
  client.hotOf('/c.jsx').accept((/** @type {any} */ next) => taken.push(next.url));
  const tell = async (/** @type {number} */ timestamp) => {
    const updates = ['/a.jsx', '/b.jsx', '/c.jsx'].map((path) => ({
      ...{ type: 'js-update', path, acceptedPath: path, timestamp },
    }));
    client.hear({ type: 'update', updates });
    await setImmediate();
  };

  await tell(1);
  assert.deepEqual(
    versions.takeFailures().map(({ path }) => path),
    ['/a.jsx'],
  );
  assert.deepEqual(versions.unloaded, ['/a.jsx']);
  await tell(2);
  assert.deepEqual(taken, ['/c.jsx?t=1', '/a.jsx?t=2', '/c.jsx?t=2']);
  assert.deepEqual(versions.unloaded, []);
  assert.equal(reported.mock.callCount(), 2);
  delete (/** @type {any} */ (globalThis).reportError);
});

test('a stylesheet that comes with its update is not asked for', async () => {
  const versions = new Versions();
  /** @type {string[]} */
  const seen = [];
  const { hear, hotOf } = startClient(
    versions,
    async (url) => ({ count: seen.push(url) }),
    (id, text) => void seen.push(`${id}: ${text}`),
  );
  hotOf('/look.css').accept();
  /** @param {number} timestamp @param {object} [more] */
  const tell = async (timestamp, more) => {
    const path = { type: 'js-update', path: '/look.css', acceptedPath: '/look.css' };
    hear({ type: 'update', updates: [{ ...path, timestamp, ...more }] });
    await setImmediate();
    await setImmediate();
  };

  await tell(2, { style: { id: '/app/look.css', text: 'p {}' } });
  assert.deepEqual(seen, ['/app/look.css: p {}']);
  await tell(3, { style: { id: '/app/look.css', text: 'b {}' } });
  assert.deepEqual(seen.splice(0), ['/app/look.css: p {}', '/app/look.css: b {}']);
  await tell(4);
  assert.match(seen[0], /look\.css\?t=4$/);

  /** @type {string[]} */
  const old = [];
  versions.reportOld((path) => void old.push(path));
  versions.live('/look.css', 2);
  assert.deepEqual(old, ['/look.css'], 'what was on its way has put the text of before back');
});

test('what a browser could not load is told again at once where others were told since', () => {
  const unloaded = new Unloaded();
  assert.deepEqual(unloaded.begin(10), []);
  unloaded.end(12);
  assert.equal(unloaded.add('page', 12), false, 'the last message: nothing has changed since');
  assert.equal(unloaded.add('part', 11), true, 'what has changed with it was told later');
  assert.equal(unloaded.take('part'), true);
  assert.deepEqual(unloaded.begin(13), ['page']);
  assert.equal(unloaded.take('page'), false, 'the changes tell of it');
  assert.equal(unloaded.add('page', 12), true, 'said when the next change had begun');
});

test('what was told again for one browser is not told once more for another', () => {
  const unloaded = new Unloaded();
  unloaded.begin(10);
  assert.deepEqual([unloaded.add('part', 0, 5), unloaded.take('part')], [true, true]);
  unloaded.reportedAgain('part', 7);
  assert.deepEqual([unloaded.add('part', 0, 5), unloaded.take('part')], [false, false]);
  assert.equal(unloaded.add('part', 0, 7), true, 'the newest one is not shown');
});
