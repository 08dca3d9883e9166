import Module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const EXTENSION = fileURLToPath(new URL('../dist/extension.js', import.meta.url));
const require = createRequire(import.meta.url);

/**
 * A stand-in for what a test does not look at: a class with everything in it.
 *
 * @param {Record<string, unknown>} [known]
 * @returns {any}
 */
function standIn(known = {}) {
  return new Proxy(class {}, {
    apply: () => standIn(),
    get: (target, name) => {
      if (name === 'then') return undefined; // it is no promise
      if (name in known) return known[String(name)];
      if (name === 'prototype' || typeof name === 'symbol') return Reflect.get(target, name);
      return standIn();
    },
  });
}

/** @param {string} fsPath */
function uriOf(fsPath) {
  return { scheme: 'file', fsPath, toString: () => `file://${fsPath}` };
}

/**
 * An editor that has only what the extension asks it.
 *
 * @param {{ isTrusted: boolean, folders: string[], settings?: Record<string, unknown> }} opened
 */
export function openEditor({ isTrusted, folders, settings = {} }) {
  /** What the user is told, and which button is pressed then. */
  const messages = /** @type {string[]} */ ([]);
  /** @type {(() => void)[]} */
  const listeners = [];
  /** @type {Record<string, () => Promise<void>>} */
  const commands = {};
  const nothing = () => ({ dispose: () => {} });
  const log = { error: () => {}, warn: () => {}, info: () => {}, dispose: () => {} };
  const vscode = standIn({
    version: '1.99.0',
    EventEmitter: class {
      event = nothing;
      fire() {}
      dispose() {}
    },
    Uri: { file: uriOf, parse: () => uriOf('/') },
    env: { appName: 'a test', language: 'en' },
    workspace: standIn({
      isTrusted,
      workspaceFolders: folders.map((folder) => ({ uri: uriOf(folder), name: 'folder', index: 0 })),
      textDocuments: [],
      notebookDocuments: [],
      getConfiguration: (/** @type {string} */ section) => ({
        get: (/** @type {string} */ name, /** @type {unknown} */ otherwise) =>
          settings[`${section}.${name}`] ?? otherwise,
      }),
    }),
    window: standIn({
      createOutputChannel: () => ({ ...log, onDidChangeLogLevel: nothing }),
      showErrorMessage: async (/** @type {string} */ message) => {
        messages.push(message);
        for (const listener of listeners) listener();
      },
    }),
    commands: {
      registerCommand: (/** @type {string} */ name, /** @type {() => Promise<void>} */ run) => {
        commands[name] = run;
        return nothing();
      },
    },
  });
  return {
    messages,
    commands,
    /** Wait until the user was told of so many mistakes. @param {number} count */
    waitMessages: (count) =>
      new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        const look = () => {
          if (messages.length >= count) resolve();
        };
        listeners.push(look);
        look();
      }),
    extension: load(vscode),
  };
}

/** Return the packaged extension, in an editor of its own. @param {unknown} vscode */
function load(vscode) {
  const loader = /** @type {any} */ (Module);
  const usual = loader._load;
  loader._load = (/** @type {string} */ name, /** @type {unknown[]} */ ...more) =>
    name === 'vscode' ? vscode : usual(name, ...more);
  try {
    delete require.cache[EXTENSION];
    return require(EXTENSION);
  } finally {
    loader._load = usual;
  }
}

/** An extension context. */
export function makeContext() {
  return { subscriptions: /** @type {{ dispose: () => void }[]} */ ([]) };
}
