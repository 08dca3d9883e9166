'use strict';

const vscode = require('vscode');

const { findCommand } = require('./command.js');
const { indentBehind } = require('./indent.js');
const { folderOf, isProject, projectOf } = require('./projects.js');
const { Server } = require('./server.js');
const { closeTags } = require('./tags.js');

/** The servers that run, by the root of their project. @type {Map<string, InstanceType<typeof Server>>} */
const servers = new Map();

function openFolders() {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
}

/**
 * Start `fx lsp` for each project that is open, or has an open page, and runs none yet.
 *
 * @param {import('vscode').LogOutputChannel} log
 */
function start(log) {
  if (!vscode.workspace.isTrusted) return;
  const folders = openFolders();
  const pages = vscode.workspace.textDocuments.filter(
    ({ languageId, uri }) => languageId === 'fxl' && uri.scheme === 'file',
  );
  const roots = pages.map(({ uri }) => projectOf(uri.fsPath, folders));
  for (const root of [...folders.filter(isProject), ...roots]) {
    if (!servers.has(root)) servers.set(root, new Server(root, commandOf(root, folders), log));
  }
}

/**
 * @param {string} root
 * @param {readonly string[]} folders
 */
function commandOf(root, folders) {
  const uri = vscode.Uri.file(root);
  const command = vscode.workspace.getConfiguration('fx', uri).get('command', '');
  const python = vscode.workspace.getConfiguration('python', uri);
  const interpreter = python.get('defaultInterpreterPath', '');
  return findCommand({ root, folder: folderOf(root, folders) ?? root, command, interpreter });
}

/**
 * End the servers of some projects, all by default.
 *
 * @param {(root: string) => boolean} [chosen]
 */
async function stop(chosen = () => true) {
  const found = [...servers].filter(([root]) => chosen(root));
  for (const [root] of found) servers.delete(root);
  await Promise.all(found.map(([, server]) => server.stop()));
}

/**
 * Indents the first line of a block in the Python half, which the editor has just begun.
 *
 * @type {import('vscode').OnTypeFormattingEditProvider}
 */
const blocks = {
  provideOnTypeFormattingEdits(document, { line }) {
    const before = new vscode.Range(0, 0, Math.max(line - 1, 0), Number.MAX_SAFE_INTEGER);
    const indent = indentBehind(document.getText(before).split(/\r?\n/));
    const { firstNonWhitespaceCharacterIndex: end } = document.lineAt(line);
    if (indent === undefined) return [];
    return [vscode.TextEdit.replace(new vscode.Range(line, 0, line, end), indent)];
  },
};

/** @param {import('vscode').ExtensionContext} context */
function activate(context) {
  const log = vscode.window.createOutputChannel('fxtrio', { log: true });
  const begin = () => start(log);
  const restart = async () => {
    await stop();
    begin();
  };
  context.subscriptions.push(
    log,
    vscode.languages.registerOnTypeFormattingEditProvider('fxl', blocks, '\n'),
    closeTags(({ fsPath }) => servers.get(projectOf(fsPath, openFolders()))?.client ?? null),
    vscode.commands.registerCommand('fx.restart', restart),
    vscode.workspace.onDidGrantWorkspaceTrust(begin),
    vscode.workspace.onDidOpenTextDocument(begin),
    vscode.workspace.onDidChangeWorkspaceFolders(async ({ removed }) => {
      const removedFolders = removed.map(({ uri }) => uri.fsPath);
      await stop((root) => folderOf(root, removedFolders) !== undefined);
      begin();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      const sections = ['fx', 'python.defaultInterpreterPath'];
      if (sections.some((section) => event.affectsConfiguration(section))) await restart();
    }),
  );
  begin();
}

module.exports = { activate, deactivate: () => stop() };
