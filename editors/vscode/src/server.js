'use strict';

const vscode = require('vscode');
const {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
} = require('vscode-languageclient/node');

const { startChild } = require('./child.js');

/** How long a server may take to end after it was told to (ms). */
const LEAVE = 2000;

/** A server that has ended this often (count) within this time (ms) is not started again. */
const MOST_ENDS = 5;
const SHORT = 3 * 60_000;

const AGAIN = 'Try again';
const LOG = 'Show log';

/** A client that interrupts nobody: `Server` tells what its user can do something about. */
class QuietClient extends LanguageClient {
  /**
   * @param {string} message
   * @param {any} [data]
   */
  error(message, data) {
    super.error(message, data, false);
  }
}

/** `fx lsp` for one project. A process that dies is followed by another, but not without end. */
class Server {
  /**
   * @param {string} root of the project
   * @param {string} command
   * @param {import('vscode').LogOutputChannel} log
   */
  constructor(root, command, log) {
    this._root = root;
    this._command = command;
    this._log = log;
    this._wanted = true;
    /** @type {LanguageClient | null} */
    this._client = null;
    /** @type {import('./child.js').Child | null} */
    this._child = null;
    this._running = this._run();
  }

  /** What asks the process that runs, null while none does. */
  get client() {
    return this._client?.isRunning() ? this._client : null;
  }

  /** End the process, in whatever state it is. */
  async stop() {
    this._wanted = false;
    if (this._client?.isRunning()) {
      try {
        await this._client.stop(LEAVE);
      } catch (error) {
        this._log.warn(`${this._root}: the server does not respond: ${error}`);
      }
    }
    this._child?.process.kill('SIGKILL'); // what it has to do is done with its last answer
    await this._running;
  }

  /** Run one process after the other until none is wanted, or none can be had. */
  async _run() {
    /** @type {number[]} */
    const ends = [];
    let hasAnswered = false;
    while (this._wanted) {
      try {
        this._child = await startChild(this._command, this._root);
      } catch (error) {
        return this._tell('cannot be started', error instanceof Error ? error.message : `${error}`);
      }
      hasAnswered = (await this._serve(this._child)) || hasAnswered;
      const cause = await this._child.ended;
      if (!hasAnswered) return this._tell('cannot be started', cause);
      ends.push(Date.now());
      ends.splice(0, ends.length - MOST_ENDS);
      if (ends.length === MOST_ENDS && Date.now() - ends[0] < SHORT) {
        return this._tell(`has exited ${MOST_ENDS} times within 3 minutes`, cause);
      }
    }
  }

  /**
   * Hand what the editor asks to a process while it runs.
   *
   * @param {import('./child.js').Child} child
   * @returns {Promise<boolean>} whether it has ever answered
   */
  async _serve({ process, ended }) {
    const client = this._makeClient(process);
    try {
      if (!this._wanted) throw new Error('it is not wanted any more');
      await client.start();
      this._client = client;
    } catch (error) {
      process.kill('SIGKILL'); // the client fails too when a process ends right behind its answer
    }
    await ended;
    this._client = null;
    return /** @type {import('node:net').Socket} */ (process.stdout).bytesRead > 0;
  }

  /**
   * @param {import('./child.js').Child["process"]} process
   * @returns {LanguageClient}
   */
  _makeClient(process) {
    const uri = vscode.Uri.file(this._root);
    const name = this._root.split(/[\\/]/).at(-1) ?? this._root;
    const settings = vscode.workspace.getConfiguration('fx', uri);
    const pattern = { baseUri: uri.toString(), pattern: '**/*.fxl' };
    return new QuietClient('fx', 'fxtrio', async () => process, {
      documentSelector: [{ scheme: 'file', language: 'fxl', pattern }],
      workspaceFolder: { uri, name, index: 0 },
      outputChannel: this._log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (_error, _message, count) => ({
          action: count !== undefined && count <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown,
          handled: true,
        }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }), // `_run` does
      },
      middleware: { provideOnTypeFormattingEdits: () => [] }, // `closeTags` places the cursor
      initializationOptions: {
        imports: settings.get('imports', true),
        python: settings.get('python', null),
        typescript: settings.get('typescript', null),
      },
    });
  }

  /**
   * Tell the user why no server runs, and wait for no answer.
   *
   * @param {string} what
   * @param {string} cause
   */
  _tell(what, cause) {
    if (!this._wanted) return;
    const message = `fxtrio: '${this._command} lsp' ${what}: ${cause}`;
    this._log.error(message);
    void vscode.window.showErrorMessage(message, AGAIN, LOG).then((chosen) => {
      if (chosen === AGAIN) void vscode.commands.executeCommand('fx.restart');
      if (chosen === LOG) this._log.show();
    });
  }
}

module.exports = { Server };
