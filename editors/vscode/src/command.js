'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const NAME = process.platform === 'win32' ? 'fx.exe' : 'fx';
const FOLDER = process.platform === 'win32' ? 'Scripts' : 'bin';

/**
 * @typedef {object} Place
 * @property {string} root of the project
 * @property {string} folder that is open around it, or the project itself
 * @property {string} command the setting `fx.command`, "" without one
 * @property {string} interpreter the setting `python.defaultInterpreterPath`, "" without one
 */

/**
 * Return the command `fx` of a project: what is set, or that beside its interpreter, or that of
 * the nearest virtual environment up to the open folder, or the one on the PATH.
 *
 * @param {Place} place
 * @returns {string}
 */
function findCommand({ root, folder, command, interpreter }) {
  if (command !== '') return spelledOut(command, folder);
  const candidates = foldersUpTo(root, folder).flatMap((one) =>
    ['.venv', 'venv'].map((environment) => path.join(one, environment, FOLDER, NAME)),
  );
  const python = spelledOut(interpreter, folder);
  if (path.isAbsolute(python)) {
    candidates.unshift(path.join(path.dirname(python), NAME), path.join(python, FOLDER, NAME));
  }
  return candidates.find((file) => fs.existsSync(file)) ?? 'fx';
}

/**
 * Return a setting with the variables that other extensions know, too. A relative path that
 * names a folder is of the open folder.
 *
 * @param {string} set
 * @param {string} folder
 */
function spelledOut(set, folder) {
  const full = set.replaceAll('${workspaceFolder}', folder).replace(/^~(?=[\\/])/, os.homedir());
  return /[\\/]/.test(full) ? path.resolve(folder, full) : full;
}

/**
 * Return a folder and those around it, up to one of them.
 *
 * @param {string} inner
 * @param {string} outer
 */
function foldersUpTo(inner, outer) {
  const found = [inner];
  let folder = inner;
  while (folder !== outer && folder !== path.dirname(folder)) {
    folder = path.dirname(folder);
    found.push(folder);
  }
  return folder === outer ? found : [inner];
}

module.exports = { findCommand };
