'use strict';

const fs = require('node:fs');
const path = require('node:path');

const CONFIG_FILE = 'fx.config.json';

/**
 * Return the project folder of a page file, as `fx lsp` finds it: the nearest one around it with
 * settings, or else the one around its nearest `pages`, the folder that is open, or its own.
 *
 * @param {string} file
 * @param {readonly string[]} folders that are open
 * @returns {string}
 */
function projectOf(file, folders) {
  const around = parents(file);
  const pages = around.find((folder) => path.basename(folder) === 'pages');
  return (
    around.find(isProject) ??
    (pages === undefined ? undefined : path.dirname(pages)) ??
    folderOf(file, folders) ??
    path.dirname(file)
  );
}

/**
 * Return the innermost of the open folders that a file or folder is in, if any.
 *
 * @param {string} file
 * @param {readonly string[]} folders
 * @returns {string | undefined}
 */
function folderOf(file, folders) {
  return [file, ...parents(file)].find((folder) => folders.includes(folder));
}

/** @param {string} folder */
function isProject(folder) {
  return fs.existsSync(path.join(folder, CONFIG_FILE));
}

/** @param {string} file */
function parents(file) {
  /** @type {string[]} */
  const found = [];
  for (let folder = path.dirname(file); folder !== found.at(-1); folder = path.dirname(folder)) {
    found.push(folder);
  }
  return found;
}

module.exports = { folderOf, isProject, projectOf };
