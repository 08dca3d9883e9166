import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';

import { HAS_HEAD, STREAM_WINDOW, Type } from '../../../fxtrio/js/worker/frames.cjs';
import { Stream } from '../../../fxtrio/js/worker/streams.cjs';

/** Start a stream; `render` gets `(options, destination)` after the shell is ready. */
function open(pipe, { shell = (options) => options.onShellReady('<title>') } = {}) {
  const log = { frames: [], errors: [], ended: [], aborted: [] };
  const outbox = {
    congested: false,
    frame: (type, _id, payload = '', flags = 0) =>
      log.frames.push([type, Buffer.from(payload), flags]),
  };
  const stream = new Stream(7, outbox, {
    onEnd: (id) => log.ended.push(id),
    onError: (error) => log.errors.push(error.message),
    describe: (error) => ({ message: error.message }),
  });
  stream.start(
    (_page, _state, options) => {
      shell(options);
      return {
        pipe: (destination) => pipe(destination, options),
        abort: (reason) => log.aborted.push(reason.message),
      };
    },
    0,
    {},
  );
  return { stream, outbox, log };
}

const types = (log) => log.frames.map(([type]) => type);

test('the first chunk has the head, and all parts of one moment', async () => {
  const { log } = open((destination) => {
    destination.write('<main>');
    destination.write('text');
    destination.end('</main>');
  });
  await turn();
  assert.deepEqual(log.frames, [
    [Type.CHUNK, Buffer.from('\x07\0\0\0<title><main>text</main>'), HAS_HEAD],
    [Type.END, Buffer.alloc(0), 0],
  ]);
  assert.deepEqual(log.ended, [7]);
});

for (const [when, isSent] of [['before', false], ['after', true]]) {
  test(`an error of the whole page, ${when} its shell is sent`, async () => {
    const broken = new Error('broken');
    const { log } = open((destination) => destination.end('shell'), {
      shell: async (options) => {
        if (!isSent) options.onError(broken, true);
        options.onShellReady('');
        await turn();
        if (isSent) options.onError(broken, true);
      },
    });
    await turn();
    await turn();
    assert.deepEqual(types(log), isSent ? [Type.CHUNK, Type.END] : [Type.ERROR]);
    assert.deepEqual(log.ended, [7]);
    assert.deepEqual(log.aborted, isSent ? [] : ['broken']);
  });
}

test('an error in a part of a page that is caught there is only logged', async () => {
  const { log } = open((destination) => destination.end('shell'), {
    shell: (options) => {
      options.onError(new Error('broken'), false);
      options.onShellReady('');
    },
  });
  await turn();
  assert.deepEqual(types(log), [Type.CHUNK, Type.END]);
  assert.deepEqual(log.errors, ['broken']);
});

test('a page without a part still has its head', async () => {
  const { log } = open((destination) => destination.end());
  await turn();
  assert.deepEqual(types(log), [Type.CHUNK, Type.END]);
  assert.equal(log.frames[0][2], HAS_HEAD);
});

test('a value may come before a component asks for it, or after', async () => {
  const { stream, log } = open(async (destination, { deferred }) => {
    destination.write(String(await deferred('early')));
    destination.write(String(await deferred('late')));
    await assert.rejects(deferred('bad'), { message: 'no', code: 4 });
    destination.end();
  });
  stream.settle('early', 1, false);
  await turn();
  stream.settle('late', 2, false);
  await turn();
  stream.settle('bad', { message: 'no', code: 4 }, true);
  await turn();
  assert.deepEqual(types(log), [Type.CHUNK, Type.CHUNK, Type.END]);
});

test('a failed value that nobody asks for is no unhandled rejection', async () => {
  const { stream } = open(() => {});
  stream.settle('unused', { message: 'no' }, true);
  await turn();
});

test('a reader that takes nothing stops the page at the window', async () => {
  let drained = 0;
  const part = Buffer.alloc(64 * 1024);
  const { stream, log } = open((destination) => {
    const fill = () => {
      while (destination.write(part));
    };
    destination.on('drain', () => {
      drained += 1;
      fill();
    });
    fill();
  });
  const sent = () => log.frames.reduce((sum, [, body]) => sum + body.length, 0);
  for (let round = 0; round < 20; round += 1) await turn();
  const first = sent();
  assert.ok(first >= STREAM_WINDOW && first <= STREAM_WINDOW + part.length, `${first} bytes`);
  const before = drained;
  stream.credit(STREAM_WINDOW);
  for (let round = 0; round < 20; round += 1) await turn();
  assert.ok(drained > before);
  assert.ok(sent() <= first + STREAM_WINDOW + part.length, `${sent()} bytes`);
  assert.ok(sent() > first + STREAM_WINDOW / 2);
});

test('a socket without room stops the page until it is resumed', async () => {
  const { stream, outbox, log } = open(
    (destination) => {
      destination.write('one', () => destination.end('two'));
    },
    { shell: (options) => setImmediate(() => options.onShellReady('')) },
  );
  outbox.congested = true;
  for (let round = 0; round < 5; round += 1) await turn();
  assert.deepEqual(types(log), [Type.CHUNK]);
  outbox.congested = false;
  stream.resume();
  for (let round = 0; round < 5; round += 1) await turn();
  assert.equal(types(log).at(-1), Type.END);
});

test('an abort is confirmed once, and nothing follows it', async () => {
  const { stream, log } = open((destination, { onError }) => {
    destination.write('one');
    destination.on('close', () => onError(new Error('closed early')));
  });
  await turn();
  stream.abort();
  stream.abort();
  await turn();
  assert.deepEqual(types(log), [Type.CHUNK, Type.END]);
  assert.deepEqual(log.errors, []);
  assert.ok(log.aborted.length >= 1);
});

test('an abort before the shell is ready opens nothing', async () => {
  let ready;
  const { stream, log } = open(() => assert.fail('piped'), {
    shell: (options) => (ready = options.onShellReady),
  });
  stream.abort();
  ready('');
  await turn();
  assert.deepEqual(types(log), [Type.END]);
});

test('a shell that fails is an error, and the only reply', async () => {
  const { log } = open(() => {}, {
    shell: (options) => options.onShellError(new Error('no shell')),
  });
  await turn();
  assert.deepEqual(log.frames, [[Type.ERROR, Buffer.from('{"message":"no shell"}'), 0]]);
});

test('an error inside a boundary is reported, and ends nothing', async () => {
  const { log } = open((destination, { onError }) => {
    onError(new Error('caught'));
    destination.end('fine');
  });
  await turn();
  assert.deepEqual(log.errors, ['caught']);
  assert.equal(types(log).at(-1), Type.END);
});

test('a page that destroys its destination ends with an error', async () => {
  const { log } = open((destination) => {
    destination.write('one');
    setImmediate(() => destination.destroy(new Error('fatal')));
  });
  for (let round = 0; round < 5; round += 1) await turn();
  assert.deepEqual(types(log), [Type.CHUNK, Type.ERROR]);
});

test('an error that the server has sent, and logged, is not told again', async () => {
  const { stream, log } = open(async (destination, { deferred, onError }) => {
    for (const name of ['page', 'own']) await deferred(name).catch(onError);
    destination.end();
  });
  stream.settle('page', { message: 'the loader gave no data', expected: true }, true);
  stream.settle('own', { message: 'a mistake' }, true);
  await turn();
  assert.deepEqual(log.errors, ['a mistake']);
});
