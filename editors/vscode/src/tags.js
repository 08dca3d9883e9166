'use strict';

const vscode = require('vscode');

/** The request of `fx lsp`: what closes the tag that was just written in front of a place. */
const CLOSE_TAG = 'fx/closeTag';

/**
 * Close tags while they are typed: behind `>` and `</`, with the cursor in front of the end.
 *
 * @param {(uri: import('vscode').Uri) => import('vscode-languageclient/node').LanguageClient | null} clientOf
 * @returns {import('vscode').Disposable}
 */
function closeTags(clientOf) {
  return vscode.workspace.onDidChangeTextDocument(async ({ document, contentChanges, reason }) => {
    const editor = vscode.window.activeTextEditor;
    if (document.languageId !== 'fxl' || editor?.document !== document || reason) return;
    const position = placeToClose(document, contentChanges);
    const client = clientOf(document.uri);
    if (!position || !client) return;
    const { version } = document;
    const params = client.code2ProtocolConverter.asTextDocumentPositionParams(document, position);
    const closing = await client.sendRequest(CLOSE_TAG, params);
    const active = vscode.window.activeTextEditor;
    if (typeof closing !== 'string' || active !== editor || document.version !== version) return;
    const text = closing.replaceAll('$', String.raw`\$`);
    const isEnd = !closing.startsWith('</'); // of `</`, which was written
    await editor.insertSnippet(new vscode.SnippetString(isEnd ? text : `$0${text}`), position);
  });
}

/**
 * Return the place behind a `>` or `</` that was typed, if a tag may be closed there.
 *
 * @param {import('vscode').TextDocument} document
 * @param {readonly import('vscode').TextDocumentContentChangeEvent[]} changes
 */
function placeToClose(document, changes) {
  const settings = vscode.workspace.getConfiguration('fx', document.uri);
  if (changes.length !== 1 || !settings.get('closeTags', true)) return undefined;
  const [{ range, text }] = changes;
  if (!/^[^\n]*[>/]$/.test(text)) return undefined;
  const position = range.start.translate(0, text.length);
  const before = document.getText(
    new vscode.Range(position.line, 0, position.line, position.character),
  );
  return /(?:^|[^=/])>$|<\/$/.test(before) ? position : undefined;
}

module.exports = { closeTags };
