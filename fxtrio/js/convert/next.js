/** UI code of Next.js → the same for fxtrio, where an idiom has one counterpart. Pure. */

import { IMPORT } from '../check/imports/specifiers.js';
import { walk } from '../check/tree.js';
import { nothing, publicVariable, remove, renameModule } from './edits.js';
import { importEdits, takeRouter } from './next-client.js';
import { documentEdits, exportEdits, paramsEdits, typeEdits } from './next-page.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./convert.js').File} File */
/** @typedef {import('./convert.js').Rewriting} Rewriting */

/**
 * What is known of the whole project.
 *
 * @typedef {object} Context
 * @property {Record<string, string>} moved where files are to where they will be
 * @property {[string, string][]} aliases beginnings of imports, and what stands there here
 */

const PREFIX = 'NEXT_PUBLIC_';
const CONFIG = /(^|\/)[\w.-]+\.config\.[cm]?[jt]s$/;
const TAILWIND = /(^|\/)tailwind\.config\.[cm]?[jt]s$/;
const ENDS = ['', '.tsx', '.ts', '.jsx', '.js'];

/**
 * @param {Node} program
 * @param {File} file
 * @param {Context} context
 * @returns {Rewriting}
 */
export function nextEdits(program, file, context) {
  const found = nothing();
  const isPage = file.path.endsWith('.fxl');
  if (TAILWIND.test(file.path)) contentEdits(program, file.text, found);
  if (CONFIG.test(file.path)) return found;
  /** @type {Set<string>} */
  const wanted = new Set();
  takeRouter(program, file.text, wanted, found);
  if (isPage) {
    exportEdits(program, file, found);
    paramsEdits(program, file.text, found);
    documentEdits(program, file.text, wanted, found);
    typeEdits(program, wanted, found);
  }
  importEdits(program, file.text, wanted, found);
  walk(program, (node) => {
    if (IMPORT.test(node.type) && typeof node.source?.value === 'string') {
      const module = pathHere(node.source.value, file, context);
      if (module !== node.source.value) {
        found.edits.push(renameModule(node.source, module, file.text));
        found.done.push('paths of imports');
      }
    }
    const variable = publicVariable(node, PREFIX);
    if (variable.length > 0) found.done.push(`${PREFIX}… → FX_PUBLIC_…`);
    found.edits.push(...variable);
    if (isPage && node.type === 'ExpressionStatement' && node.directive === 'use client') {
      found.edits.push(remove(node, file.text));
      found.done.push("without 'use client'");
    }
  });
  return found;
}

/**
 * Return what an import of a file is to be written as, after files have moved.
 *
 * @param {string} module
 * @param {File} file
 * @param {Context} context
 */
function pathHere(module, file, { moved, aliases }) {
  const [plain] = module.split('?', 1);
  const query = module.slice(plain.length);
  if (plain.startsWith('.')) {
    const target = join(folderOf(file.before), plain);
    const there = movedTo(target, moved) ?? target;
    if (there === target && file.before === file.path) return module;
    return relative(folderOf(file.path), there) + query;
  }
  for (const [prefix, here] of aliases) {
    if (!plain.startsWith(prefix)) continue;
    const target = here + plain.slice(prefix.length);
    return `@/${movedTo(target, moved) ?? target}${query}`;
  }
  return module;
}

/**
 * @param {string} target
 * @param {Record<string, string>} moved
 */
function movedTo(target, moved) {
  const end = ENDS.find((one) => Object.hasOwn(moved, target + one));
  return end === undefined ? undefined : moved[target + end];
}

/** @param {string} path */
function folderOf(path) {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

/**
 * @param {string} folder
 * @param {string} path
 */
function join(folder, path) {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/**
 * @param {string} from a folder
 * @param {string} to
 */
function relative(from, to) {
  const here = from === '' ? [] : from.split('/');
  const there = to.split('/');
  while (here.length > 0 && there.length > 1 && here[0] === there[0]) {
    here.shift();
    there.shift();
  }
  return [...(here.length > 0 ? here.map(() => '..') : ['.']), ...there].join('/');
}

/**
 * Have Tailwind 3 look into page files as well.
 *
 * @param {Node} program
 * @param {string} text
 * @param {Rewriting} found
 */
function contentEdits(program, text, found) {
  walk(program, (node) => {
    const name = node.type === 'Property' ? (node.key.name ?? node.key.value) : undefined;
    if (name !== 'content' || node.value.type !== 'ArrayExpression') return;
    const at = node.value.start + 1;
    const space = text.slice(at).match(/^\s+/)?.[0] ?? ' ';
    const glob = "'./pages/**/*.{fxl,js,jsx,ts,tsx}',";
    const isFirst = text[at] === '\n';
    found.edits.push({
      start: at,
      end: at,
      text: isFirst ? `${space}${glob}` : `${glob}${space}`,
    });
    found.done.push("'content' leads to .fxl");
  });
}
