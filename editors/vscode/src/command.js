'use strict';

const fs = require('node:fs');
const path = require('node:path');

const NAMES =
  process.platform === 'win32' ? ['Scripts/fx.exe', 'Scripts/fx.cmd'] : ['bin/fx', 'Scripts/fx'];

/**
 * Return the command `fx` of a folder: what is set, or that of its virtual environment, or the
 * one on the PATH.
 *
 * @param {string} set the setting `fx.command`, "" without one
 * @param {readonly string[]} folders that are open
 * @returns {string}
 */
function findCommand(set, folders) {
  if (set !== '') return set;
  for (const folder of folders) {
    for (const environment of ['.venv', 'venv']) {
      for (const name of NAMES) {
        const file = path.join(folder, environment, name);
        if (fs.existsSync(file)) return file;
      }
    }
  }
  return 'fx';
}

module.exports = { findCommand };
