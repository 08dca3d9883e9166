/** UI code of Pyxle → the same for fxtrio. Pure. */

import { PROPERTIES } from '../check/pyxle.js';
import { IMPORT } from '../check/imports/specifiers.js';
import { walk } from '../check/tree.js';
import { importedFrom, nothing, publicVariable, remove, renameModule, replace } from './edits.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./convert.js').File} File */
/** @typedef {import('./convert.js').Rewriting} Rewriting */

const CLIENT = 'pyxle/client';
const PREFIX = 'PYXLE_PUBLIC_';
const TAILWIND = /(^|\/)tailwind\.config\.[cm]?[jt]s$/;

/**
 * @param {Node} program
 * @param {File} file
 * @returns {Rewriting}
 */
export function pyxleEdits(program, { path, text }) {
  const found = nothing();
  const client = importedFrom(program, CLIENT);
  walk(program, (node) => {
    if (IMPORT.test(node.type) && typeof node.source?.value === 'string') {
      const module = moduleHere(node.source.value);
      if (module !== node.source.value) {
        found.edits.push(renameModule(node.source, module, text));
        found.done.push(`'${node.source.value}' → '${module}'`);
      }
    }
    const variable = publicVariable(node, PREFIX);
    if (variable.length > 0) found.done.push(`${PREFIX}… → FX_PUBLIC_…`);
    found.edits.push(...variable);
    if (node.type === 'JSXOpeningElement') elementEdits(node, client, text, found);
    if (node.type === 'CallExpression') callEdits(node, client, found);
    if (isSignup(node, client)) {
      const message = "'signup' creates the account, and does not sign the user in";
      found.left.push({ offset: node.start, message, remedy: 'Call login(…) after it' });
    }
    if (TAILWIND.test(path) && node.type === 'Literal' && isGlob(node.value)) {
      found.edits.push(renameModule(node, node.value.replaceAll(/\bpyxl\b/g, 'fxl'), text));
      found.done.push("'content' leads to .fxl");
    }
  });
  return found;
}

/**
 * Whether a function is taken from `useAuth()` that signs in there.
 *
 * @param {Node} node
 * @param {Map<string, string>} client
 */
function isSignup(node, client) {
  const init = node.init ?? node.object;
  if (init?.type !== 'CallExpression' || client.get(init.callee.name) !== 'useAuth') return false;
  if (node.type === 'MemberExpression') return node.property.name === 'signup';
  return (
    node.id?.type === 'ObjectPattern' &&
    node.id.properties.some((/** @type {Node} */ one) => one.key?.name === 'signup')
  );
}

/** @param {string} module */
function moduleHere(module) {
  if (module === CLIENT) return 'fx/client';
  return /^(\.|@\/)/.test(module) ? module.replace(/\.pyxl(?=$|\?)/, '.fxl') : module;
}

/** @param {unknown} value */
function isGlob(value) {
  return typeof value === 'string' && /[*/]/.test(value) && /\bpyxl\b/.test(value);
}

/**
 * Rename the properties of a component that have another name, and leave out those of no use.
 *
 * @param {Node} node
 * @param {Map<string, string>} client
 * @param {string} text
 * @param {Rewriting} found
 */
function elementEdits(node, client, text, found) {
  const known = PROPERTIES[client.get(node.name.name) ?? ''];
  for (const attribute of known === undefined ? [] : node.attributes) {
    const replacement = known[attribute.name?.name];
    if (replacement === undefined) continue;
    if (/^[a-z]\w*$/.test(replacement)) found.edits.push(replace(attribute.name, replacement));
    else if (replacement === 'Leave it out') found.edits.push(remove(attribute, text));
    else continue;
    found.done.push(`<${node.name.name} ${attribute.name.name}>`);
  }
}

/**
 * Rename the options of a function, such as `pagePath` of `useAction`.
 *
 * @param {Node} node
 * @param {Map<string, string>} client
 * @param {Rewriting} found
 */
function callEdits(node, client, found) {
  const known = PROPERTIES[client.get(node.callee.name) ?? ''];
  const options = node.arguments[1];
  if (known === undefined || options?.type !== 'ObjectExpression') return;
  for (const property of options.properties) {
    const replacement = known[property.key?.name];
    if (replacement === undefined || !/^[a-z]\w*$/.test(replacement) || property.computed) continue;
    found.edits.push(
      replace(
        property.key,
        property.shorthand ? `${replacement}: ${property.key.name}` : replacement,
      ),
    );
    found.done.push(`${node.callee.name}({ ${property.key.name} })`);
  }
}
