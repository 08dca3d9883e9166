'use strict';

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

const { findCommand } = require('./command.js');

/** @typedef {import('vscode-languageclient/node').LanguageClient} Client */

/** The running client. @type {{ client: Client | null }} */
const state = { client: null };

/** Start `fx lsp` for the folders that are open. */
async function start() {
  if (!vscode.workspace.isTrusted) return;
  const settings = vscode.workspace.getConfiguration('fx');
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const command = findCommand(settings.get('command', ''), folders);
  const client = new LanguageClient(
    'fx',
    'fxtrio',
    { command, args: ['lsp'], transport: TransportKind.stdio },
    {
      documentSelector: [{ scheme: 'file', language: 'fxl' }],
      initializationOptions: {
        imports: settings.get('imports', true),
        python: settings.get('python', []),
        typescript: settings.get('typescript', null),
      },
    },
  );
  state.client = client;
  try {
    await client.start();
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    await vscode.window.showErrorMessage(
      `fxtrio: '${command} lsp' cannot be started: ${cause} Install 'fxtrio[lsp]' in .venv, or set fx.command.`,
    );
  }
}

async function stop() {
  const { client } = state;
  state.client = null;
  if (client?.isRunning()) await client.stop();
}

/** @param {import('vscode').ExtensionContext} context */
async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand('fx.restart', restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('fx')) await restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
