import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Type } from '../../../fxtrio/js/worker/frames.cjs';
import { Outbox } from '../../../fxtrio/js/worker/outbox.cjs';
import { Renderer } from '../../../fxtrio/js/worker/renderer.cjs';

const STATE = Buffer.from('{}');

/** Render pages one after the other; page N takes N ms. Returns what was sent before each. */
function sentBefore(pages) {
  let time = 1000;
  let sent = 0;
  const before = [];
  const socket = { writableLength: 0, write: () => (sent += 1) };
  const app = {
    render(page) {
      before.push(sent);
      time += page;
      return { head: '', html: `page ${page}` };
    },
  };
  const clock = mock.method(process, 'hrtime', () => [0, time * 1e6]);
  const renderer = new Renderer(app, new Outbox(socket), null, null);
  pages.forEach((page, index) =>
    renderer.handle(Type.RENDER, index + 1, 0, page, STATE, 0, STATE.length),
  );
  clock.mock.restore();
  return before;
}

test('replies to short renders are gathered for two milliseconds', () => {
  assert.deepEqual(sentBefore([1, 1, 1, 1, 1]), [0, 0, 0, 1, 1]);
});

test('a reply does not wait for a render that may take long', () => {
  assert.deepEqual(sentBefore([0, 0, 50, 0, 50]), [0, 0, 1, 2, 3]);
});

test('V8 knows every option that is set', () => {
  const options = fileURLToPath(import.meta.resolve('../../../fxtrio/js/worker/options.cjs'));
  const code = `require(${JSON.stringify(options)}).inlineMore()`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});
