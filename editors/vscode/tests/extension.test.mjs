import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { makeContext, openEditor } from './editor.mjs';

/** For each test: what it waits for may never come. */
const limit = { timeout: 60_000 };

let project = '';
beforeEach(() => {
  project = fs.mkdtempSync(path.join(os.tmpdir(), 'fx-'));
  fs.writeFileSync(path.join(project, 'fx.config.json'), '{}');
});
afterEach(() => fs.rmSync(project, { recursive: true }));

/**
 * Write a program that is the `fx` of the project; each of its runs leaves a line in `runs`.
 *
 * @param {string[]} lines
 */
function write(...lines) {
  const file = path.join(project, '.venv', 'bin', 'fx');
  const runs = JSON.stringify(path.join(project, 'runs'));
  const first = `require('node:fs').appendFileSync(${runs}, process.argv.slice(2).join(' ') + '\\n');`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, [`#!${process.execPath}`, first, ...lines].join('\n'), { mode: 0o755 });
  return file;
}

function runs() {
  return fs.readFileSync(path.join(project, 'runs'), 'utf8').trim().split('\n');
}

/** Answers the first message and ends: before the client has read that, or when it sends more. */
const ends = (/** @type {'at once' | 'at the second message'} */ when) => [
  'let text = "", isAnswered = false;',
  'process.stdin.on("data", (bytes) => {',
  '  text += bytes;',
  '  const end = text.indexOf("\\r\\n\\r\\n") + 4 + Number(/Content-Length: (\\d+)/.exec(text)?.[1]);',
  '  if (isAnswered && text.length > 0) process.exit(3);',
  '  if (!(text.length >= end)) return;',
  '  const { id } = JSON.parse(text.slice(text.indexOf("{"), end));',
  '  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { capabilities: {} } });',
  '  process.stdout.write(`Content-Length: ${body.length}\\r\\n\\r\\n${body}`);',
  `  if (${when === 'at once'}) process.exit(3);`,
  '  [text, isAnswered] = [text.slice(end), true];',
  '});',
];

test('in a folder that is not trusted the extension starts nothing', limit, async () => {
  write();
  const editor = openEditor({ isTrusted: false, folders: [project] });
  editor.extension.activate(makeContext());
  await editor.extension.deactivate();

  assert.deepEqual(Object.keys(editor.commands), ['fx.restart']);
  assert.equal(fs.existsSync(path.join(project, 'runs')), false);
  assert.deepEqual(editor.messages, []);
});

test('a command that is not there is told of, with what to do', limit, async () => {
  const settings = { 'fx.command': '/nowhere/fx' };
  const editor = openEditor({ isTrusted: true, folders: [project], settings });
  editor.extension.activate(makeContext());
  await editor.waitMessages(1);
  await editor.extension.deactivate();

  assert.deepEqual(editor.messages, [
    "fxtrio: '/nowhere/fx lsp' cannot be started: there is no such command. " +
      "Install 'fxtrio[lsp]' in .venv, or set fx.command.",
  ]);
});

test('a server that cannot start is told of once, with the last that it says', limit, async () => {
  const file = write(
    'console.error("careful\\nerror fx lsp: pygls is not installed.");',
    'process.exit(1);',
  );
  const editor = openEditor({ isTrusted: true, folders: [project] });
  editor.extension.activate(makeContext());
  await editor.waitMessages(1);
  await editor.extension.deactivate();

  assert.deepEqual(editor.messages, [
    `fxtrio: '${file} lsp' cannot be started: error fx lsp: pygls is not installed.`,
  ]);
  assert.deepEqual(runs(), ['lsp']);
});

for (const when of /** @type {const} */ (['at once', 'at the second message'])) {
  test(`a server that dies ${when} is started anew, four times`, limit, async () => {
    const file = write(...ends(when));
    const editor = openEditor({ isTrusted: true, folders: [project] });
    editor.extension.activate(makeContext());
    await editor.waitMessages(1);
    await editor.extension.deactivate();

    assert.deepEqual(editor.messages, [
      `fxtrio: '${file} lsp' has exited 5 times within 3 minutes: its exit code is 3.`,
    ]);
    assert.equal(runs().length, 5);
  });
}

test('a server that does not answer is ended when it is not wanted any more', limit, async () => {
  write('process.on("SIGTERM", () => {});', 'setInterval(() => {}, 1000);');
  const editor = openEditor({ isTrusted: true, folders: [project] });
  editor.extension.activate(makeContext());
  await editor.commands['fx.restart']();
  await editor.extension.deactivate();

  assert.deepEqual(editor.messages, []);
});
