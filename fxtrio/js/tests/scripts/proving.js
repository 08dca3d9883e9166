/** Proves views of projects that are written into a temporary folder. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTools } from '../../check/checker.js';
import { codeReasons } from '../../scripts/code.js';
import { namesOfElements } from '../../scripts/element-types/names.js';
import { Module } from '../../scripts/module.js';
import { Proof } from '../../scripts/proof.js';

export const toolchain = fileURLToPath(new URL('../..', import.meta.url));
export const tools = await loadTools(toolchain);
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'proof-'));
after(() => fs.rmSync(root, { recursive: true }));

/** What the text of a link begins with. */
export const LINK = 'link to ';

/**
 * Return what is proved of each view: a page, in the layouts that are named behind it.
 *
 * @param {Record<string, string>} files
 * @param {string[][]} views
 */
export async function provedOf(files, ...views) {
  const folder = path.join(fs.mkdtempSync(path.join(root, 'folder-')), 'app');
  const staging = path.join(folder, '.fx');
  const modules = Object.keys(files).filter((name) => name.endsWith('.fxl'));
  for (const [name, text] of Object.entries(files)) {
    const file = name.endsWith('.fxl')
      ? path.join(staging, 'ui', `${name}.tsx`)
      : path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (text.startsWith(LINK)) fs.symlinkSync(text.slice(LINK.length), file);
    else fs.writeFileSync(file, text);
  }
  /** @type {any} */
  const plan = {
    root: folder,
    staging,
    modules,
    views: views.map(([module, ...layouts]) => ({
      module,
      layouts: layouts.map((one) => [one, false]),
    })),
  };
  /** @type {import('../../scripts/proof.js').Resolve} */
  const resolve = async (specifier, importer) => {
    const file = path.resolve(path.dirname(importer), specifier);
    if (specifier.startsWith('.')) return file;
    const found = path.join(folder, 'node_modules', specifier, 'index.js');
    return fs.existsSync(found) ? fs.realpathSync(found) : found;
  };
  return new Proof(tools, plan, resolve).proved();
}

/**
 * Return the reasons of each view.
 *
 * @param {Record<string, string>} files
 * @param {string[][]} views
 */
export async function prove(files, ...views) {
  const proved = await provedOf(files, ...views);
  return proved.map(({ reasons }) => reasons.map((one) => `${one.path}:${one.line}: ${one.cause}`));
}

/** Return the reasons that a module has by itself. @param {string} text @returns {string[]} */
export function ownReasonsOf(text) {
  const module = new Module(tools, { path: 'pages/index.fxl', text, lang: 'tsx' });
  const unknown = /** @type {const} */ ({ kind: 'unknown' });
  return codeReasons(
    module,
    () => unknown,
    () => namesOfElements([module]),
  ).map(({ node, cause }) => {
    const { line } = module.placeOf(node);
    return `${line}: ${cause}`;
  });
}

/** In a component: `{…}` is an element, anything else statements before one. @param {string} body */
export function page(body) {
  const rest = body.startsWith('<') ? `return ${body};` : `${body}; return <p>{value}</p>;`;
  return `export default function Page({ data, children, ...props }) {\n  ${rest}\n}`;
}
