/** Proves views of projects that are written into a temporary folder. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTools } from '../../check/checker.js';
import { Proof } from '../../scripts/proof.js';

export const toolchain = fileURLToPath(new URL('../..', import.meta.url));
const tools = await loadTools(toolchain);
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'proof-'));
after(() => fs.rmSync(root, { recursive: true }));

/**
 * Return what is proved of each view: a page, in the layouts that are named behind it.
 *
 * @param {Record<string, string>} files
 * @param {string[][]} views
 */
export async function provedOf(files, ...views) {
  const folder = fs.mkdtempSync(path.join(root, 'project-'));
  const staging = path.join(folder, '.fx');
  const modules = Object.keys(files).filter((name) => name.endsWith('.fxl'));
  for (const [name, text] of Object.entries(files)) {
    const file = name.endsWith('.fxl')
      ? path.join(staging, 'ui', `${name}.tsx`)
      : path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
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
    return path.join(folder, 'node_modules', specifier, 'index.js');
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
