/** What a page or layout of Next.js exports, and the document around it. Pure. */

import { defaultFunction, promisedProps } from '../check/next.js';
import { walk } from '../check/tree.js';
import { importedFrom, remove, replace } from './edits.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {import('./convert.js').File} File */
/** @typedef {import('./convert.js').Rewriting} Rewriting */

const WITHOUT_EFFECT = new Set([
  'dynamic',
  'dynamicParams',
  'fetchCache',
  'runtime',
  'preferredRegion',
]);
const PROPS = new Set(['LayoutProps', 'PageProps']);
const MODERN = 'unstable_retry';

/**
 * @param {Node} program
 * @param {File} file
 * @param {Rewriting} found
 */
export function exportEdits(program, { path, text }, found) {
  for (const node of program.body) {
    if (node.type !== 'ExportNamedDeclaration') continue;
    const { declaration } = node;
    if (declaration?.type !== 'VariableDeclaration' || declaration.declarations.length !== 1) {
      continue;
    }
    const [{ id, init }] = declaration.declarations;
    const value = plain(init);
    if (WITHOUT_EFFECT.has(id.name) && value?.type === 'Literal') {
      found.edits.push(remove(node, text));
      found.done.push(`without '${id.name}'`);
    } else if (id.name === 'revalidate' && value?.type === 'Literal') {
      revalidateEdits(node, value.value, path, text, found);
    } else if (id.name === 'metadata' && value?.type === 'ObjectExpression') {
      metadataEdits(node, value, text, found);
    }
  }
  if (path.endsWith('/error.fxl')) boundaryLeft(program, found);
}

/**
 * Take the parameters of a page as they are, and not as a promise.
 *
 * @param {Node} program
 * @param {string} text
 * @param {Rewriting} found
 */
export function paramsEdits(program, text, found) {
  const page = defaultFunction(program);
  const promised = page === undefined ? [] : promisedProps(page);
  const params = promised.find(({ key }) => key.name === 'params');
  const [type] = params?.promise.typeArguments?.params ?? [];
  if (page === undefined || params === undefined || type === undefined) return;
  found.edits.push(replace(params.promise, text.slice(type.start, type.end)));
  found.done.push('params are no promise');
  const react = importedFrom(program, 'react');
  walk(page.body, (node) => {
    const [argument] = node.arguments ?? [];
    const isParams = argument?.name === 'params' || argument?.property?.name === 'params';
    if (node.type === 'CallExpression' && isParams && react.get(node.callee.name) === 'use') {
      found.edits.push(replace(node, text.slice(argument.start, argument.end)));
    } else if (node.type === 'AwaitExpression' && node.argument.name === 'params') {
      found.edits.push(replace(node, 'params'));
    }
  });
}

/**
 * @param {Node} node
 * @param {unknown} seconds
 * @param {string} path
 * @param {string} text
 * @param {Rewriting} found
 */
function revalidateEdits(node, seconds, path, text, found) {
  const isPage = !/\/(layout|template)\.fxl$/.test(path);
  if (typeof seconds === 'number' && seconds > 0) {
    if (!isPage) return;
    found.python.push(`CACHE = {"revalidate": ${seconds}}`);
    found.done.push('revalidate → CACHE');
  } else {
    found.done.push("without 'revalidate'");
  }
  found.edits.push(remove(node, text));
}

/**
 * Write the title and plain texts as HEAD; what else there is stays, and is found by a check.
 *
 * @param {Node} node
 * @param {Node} value
 * @param {string} text
 * @param {Rewriting} found
 */
function metadataEdits(node, value, text, found) {
  /** @type {string[]} */
  const elements = [];
  const rest = value.properties.filter((/** @type {Node} */ one) => {
    const element = elementOf(one);
    if (element !== undefined) elements.push(element);
    return element === undefined;
  });
  if (elements.length === 0) return;
  const listed = elements.map((one) => JSON.stringify(one));
  found.python.push(
    listed.length === 1 ? `HEAD = ${listed[0]}` : `HEAD = [\n    ${listed.join(',\n    ')},\n]`,
  );
  found.done.push('metadata → HEAD');
  if (rest.length === 0) {
    found.edits.push(remove(node, text));
    return;
  }
  const members = rest.map((/** @type {Node} */ one) => text.slice(one.start, one.end));
  found.edits.push(replace(value, `{\n  ${members.join(',\n  ')},\n}`));
}

/**
 * @param {Node} property
 * @returns {string | undefined} the element that says the same
 */
function elementOf({ key, value }) {
  const name = key?.name ?? key?.value;
  const argument = plain(value);
  if (name === 'title') return titleOf(argument);
  const content = name === 'keywords' ? listed(argument) : stringOf(argument);
  if (content === undefined || !['description', 'keywords', 'robots'].includes(name)) {
    return undefined;
  }
  return `<meta name="${name}" content="${escaped(content)}">`;
}

/** @param {Node | undefined} value */
function titleOf(value) {
  const text = stringOf(value);
  if (text !== undefined) return `<title>${escaped(text)}</title>`;
  if (value?.type !== 'ObjectExpression') return undefined;
  /** @type {Record<string, string | undefined>} */
  const parts = {};
  for (const { key, value: part } of value.properties) parts[key?.name] = stringOf(plain(part));
  const { template, absolute, default: usual, ...others } = parts;
  if (Object.keys(others).length > 0) return undefined;
  if (absolute !== undefined) return `<title data-template="">${escaped(absolute)}</title>`;
  if (template === undefined || usual === undefined) return undefined;
  return `<title data-template="${escaped(template)}">${escaped(usual)}</title>`;
}

/** @param {Node | undefined} value */
function listed(value) {
  if (value?.type !== 'ArrayExpression') return stringOf(value);
  const texts = value.elements.map((/** @type {Node} */ one) => stringOf(plain(one)));
  return texts.includes(undefined) ? undefined : texts.join(', ');
}

/** @param {Node | undefined} value */
function stringOf(value) {
  if (value?.type === 'Literal' && typeof value.value === 'string') return value.value;
  const isPlain = value?.type === 'TemplateLiteral' && value.expressions.length === 0;
  return isPlain ? value.quasis[0].value.cooked : undefined;
}

/** @param {string} text */
function escaped(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/**
 * Return a value without the types around it.
 *
 * @param {Node | null | undefined} node
 * @returns {Node | undefined}
 */
function plain(node) {
  if (node?.type === 'TSSatisfiesExpression' || node?.type === 'TSAsExpression') {
    return plain(node.expression);
  }
  return node ?? undefined;
}

/**
 * Take `<html>` and `<body>` away from around a layout; their attributes go into `<Head>`.
 *
 * @param {Node} program
 * @param {string} text
 * @param {Set<string>} wanted gets what is to be imported
 * @param {Rewriting} found
 */
export function documentEdits(program, text, wanted, found) {
  /** @type {Node[]} */
  const documents = [];
  walk(program, (node) => {
    if (node.type === 'JSXElement' && nameOf(node) === 'html') documents.push(node);
  });
  const [html, ...others] = documents;
  if (html === undefined || others.length > 0) return;
  const inner = html.children.filter(isElement);
  const head = inner.find((/** @type {Node} */ one) => nameOf(one) === 'head');
  const body = inner.find((/** @type {Node} */ one) => nameOf(one) === 'body');
  if (body === undefined || inner.length !== (head === undefined ? 1 : 2)) return;
  const tags = [html, body]
    .map((one) => ({ name: nameOf(one), attributes: attributesOf(one, text) }))
    .filter(({ attributes }) => attributes !== '')
    .map(({ name, attributes }) => `<${name} ${attributes} />`);
  const inHead = head?.closingElement
    ? text.slice(head.openingElement.end, head.closingElement.start).trim()
    : '';
  const parts = [...tags, ...(inHead === '' ? [] : [inHead])];
  const opening = parts.length > 0 ? `<>\n<Head>${parts.join('')}</Head>` : '<>';
  if (parts.length > 0) wanted.add('Head');
  found.edits.push(
    { start: html.start, end: body.openingElement.end, text: opening },
    { start: body.closingElement?.start ?? body.end, end: html.end, text: '</>' },
  );
  found.done.push('<html> and <body> → <Head>');
}

/**
 * Import the types of props that Next.js declares for all files, with the route as a parameter.
 *
 * @param {Node} program
 * @param {Set<string>} wanted
 * @param {Rewriting} found
 */
export function typeEdits(program, wanted, found) {
  walk(program, (node) => {
    if (node.type !== 'TSTypeReference' || !PROPS.has(node.typeName.name)) return;
    if (node.typeArguments?.params[0]?.type !== 'TSLiteralType') return;
    if (found.edits.some(({ start, end }) => start < node.end && end > node.start)) return;
    found.edits.push(replace(node, node.typeName.name));
    wanted.add(`type ${node.typeName.name}`);
  });
}

/** @param {Node} node */
function isElement(node) {
  return node.type !== 'JSXText' || node.value.trim() !== '';
}

/** @param {Node} node */
function nameOf(node) {
  return node.openingElement?.name.name;
}

/**
 * @param {Node} node
 * @param {string} text
 */
function attributesOf(node, text) {
  return node.openingElement.attributes
    .filter((/** @type {Node} */ one) => one.name?.name !== 'suppressHydrationWarning')
    .map((/** @type {Node} */ one) => text.slice(one.start, one.end))
    .join(' ');
}

/**
 * List the function with which an error page of Next.js tries again.
 *
 * @param {Node} program
 * @param {Rewriting} found
 */
function boundaryLeft(program, found) {
  const page = program.body.find(
    (/** @type {Node} */ one) => one.type === 'ExportDefaultDeclaration',
  )?.declaration;
  const [props] = page?.params ?? [];
  for (const property of props?.type === 'ObjectPattern' ? props.properties : []) {
    const name = property.key?.name;
    if (name !== 'reset' && name !== MODERN) continue;
    const message =
      name === 'reset'
        ? "'reset' is undefined after a failure on the server"
        : `error pages get no '${name}'`;
    found.left.push({ offset: property.start, message, remedy: "Call refresh() of 'fx/client'" });
  }
}
