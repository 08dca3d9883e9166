import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { test } from 'node:test';

import * as vite from 'vite';

import { stamping, stampOfText } from '../../develop/updates/stamps.js';

test('the stamp of a text is that of before it was read, whatever comes meanwhile', async () => {
  const reads = new EventEmitter();
  /** @type {(() => void)[]} let the reads end, in their order */
  const end = [];
  /** @type {number[]} as plug-ins see them */
  const stamps = [];
  const Environment = stamping(vite.DevEnvironment);
  const server = await vite.createServer({
    ...{ configFile: false, logLevel: 'silent', appType: 'custom', envDir: false },
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
    environments: {
      client: {
        dev: {
          createEnvironment: (name, config) => new Environment(name, config, { hot: false }),
        },
      },
    },
    plugins: [
      {
        name: 'read',
        resolveId: (id) => (id === '/part.js' ? id : null),
        load(id) {
          if (id !== '/part.js') return null;
          return new Promise((resolve) => {
            end.push(() => resolve({ code: 'export {};', map: null }));
            reads.emit('begun');
          });
        },
        transform(code, id) {
          if (id === '/part.js') stamps.push(stampOfText());
        },
      },
    ],
  });
  const { client } = server.environments;
  /** @param {() => Promise<any>} ask */
  const begun = async (ask) => {
    const read = once(reads, 'begun');
    const answer = ask();
    await read;
    return { answer };
  };
  /** @param {number} stamp */
  const change = (stamp) => {
    const module = client.moduleGraph.urlToModuleMap.get('/part.js');
    assert.ok(module);
    client.moduleGraph.invalidateModule(module); // as Vite does it after a save
    client.moduleGraph.invalidateModule(module, new Set(), stamp, true);
  };
  try {
    const first = await begun(() => client.transformRequest('/part.js'));
    end[0]();
    await first.answer;
    change(1);
    const second = await begun(() => client.warmupRequest('/part.js'));
    change(2);
    const third = await begun(() => client.transformRequest('/part.js'));
    end[2]();
    await third.answer;
    end[1]();
    await second.answer;
    assert.deepEqual(stamps, [0, 2, 1]);
  } finally {
    await server.close();
  }
});
