/**
 * Idioms of Next.js that build, and do nothing or something else here. Pure.
 *
 * The table for people is in `docs/guides/from-next.md`; a test compares the two.
 */

import { boundNames, walk } from './tree.js';

/** @typedef {import('./tree.js').Node} Node */
/** @typedef {import('./imports/specifiers.js').Mistake} Mistake */

const ROUTER =
  "Write import { navigate, usePathname, useSearchParams, useParams } from 'fx/client'";
const TITLE = 'Write HEAD in the server half, or <Head> in the component';
const LOADER = 'Load the data in an @server function of the server half';
const STATIC =
  "Write 'async def paths()' in the server half for 'fx export' or STATIC = True; otherwise leave it out";
const LEAVE = 'Leave it out';
const FONT =
  "Put the font's file into the project, import it with '?font', and load it with <Font> of 'fx/client'";
const REQUEST = "Read 'request.headers' and 'request.cookies' in the server half";

/** By module: what to do about an import of it. @type {Record<string, string>} */
export const MODULES = {
  next: 'Types of pages are in fx/client: PageProps, LayoutProps',
  'next/link': "Write import { Link } from 'fx/client'",
  'next/image': "Write import { Image } from 'fx/client'",
  'next/script': "Write import { Script } from 'fx/client'",
  'next/head': "Write import { Head } from 'fx/client'",
  'next/form': "Write import { Form } from 'fx/client'",
  'next/navigation': ROUTER,
  'next/router': ROUTER,
  'next/dynamic': "Write lazy(…) of React, or <ClientOnly> of 'fx/client'",
  'next/headers': REQUEST,
  'next/cookies': REQUEST,
  'next/server': 'Write a Python endpoint below pages/api, or a route hook',
  'next/cache': 'Return invalidate_routes(…) from the @action; CACHE caches pages',
  'next/font/google': FONT,
  'next/font/local': FONT,
};

const OTHER = 'See docs/guides/from-next.md';

/**
 * Return what to do about an import of a module of Next.js; undefined for any other.
 *
 * @param {string} specifier
 * @returns {string | undefined}
 */
export function nextRemedy(specifier) {
  return /^next(\/|$)/.test(specifier) ? (MODULES[specifier] ?? OTHER) : undefined;
}

/** By what a page file exports: what to do about it. @type {Record<string, string>} */
export const EXPORTS = {
  metadata: TITLE,
  generateMetadata: 'Write HEAD as a function in the server half',
  viewport: TITLE,
  generateViewport: TITLE,
  getServerSideProps: LOADER,
  getStaticProps: LOADER,
  getInitialProps: LOADER,
  getStaticPaths: STATIC,
  generateStaticParams: STATIC,
  revalidate: 'Write CACHE in the server half',
  dynamic: LEAVE,
  dynamicParams: LEAVE,
  fetchCache: LEAVE,
  runtime: LEAVE,
  preferredRegion: LEAVE,
  maxDuration: 'Set timeouts in fx.config.json',
};

/** Names that a page may well export for itself, unless their value is one that Next.js knows. */
const COMMON = new Set(['dynamic', 'runtime', 'metadata', 'viewport', 'revalidate']);
const VALUES = /^(auto|force-(dynamic|static)|error|edge|nodejs|experimental-edge)$/;

const ASYNC = 'a component cannot be asynchronous: it runs in browsers, too';
const PROMISE = "'params' is not a promise here";
const SEARCH_PARAMS = [
  "pages have no property 'searchParams'",
  "Read 'request.query_params' in the loader, or call useSearchParams()",
];
const METHOD = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/;
const DOCUMENT = new Set(['html', 'head', 'body']);

/**
 * Return the idioms of Next.js in a file, by place.
 *
 * @param {Node} program
 * @param {string} source path of the file
 * @returns {Mistake[]}
 */
export function nextMistakes(program, source) {
  const isPage = source.endsWith('.fxl');
  /** @type {Mistake[]} */
  const found = [];
  const tell = (
    /** @type {Node} */ { start: offset },
    /** @type {string[]} */ ...[message, remedy]
  ) => found.push({ offset, message, remedy, certain: false });
  if (isPage) {
    for (const node of program.body) exportMistakes(node, tell);
    const component = defaultFunction(program);
    if (component !== undefined) componentMistakes(component, tell);
  }
  /** @type {Set<Node>} */
  const inHead = new Set(); // where both say the attributes of the document
  const page = isPage ? defaultFunction(program) : undefined; // of which more is told above
  walk(program, (node) => {
    if (node !== page && isAsyncComponent(node)) tell(node, ASYNC, `${LOADER}, and pass it down`);
    if (node.type === 'JSXElement' && node.openingElement.name.name === 'Head') {
      for (const one of node.children) inHead.add(one.openingElement);
    }
    if (node.type === 'ExpressionStatement' && node.directive === 'use server') {
      const message = "'use server' has no meaning here: this code is sent to browsers";
      tell(
        node,
        message,
        "Write an @action in the server half, and call it with useAction('name')",
      );
    } else if (isPage && isDocument(node) && !inHead.has(node)) {
      const message = `fxtrio writes <${node.name.name}>: a page renders only the content of <body>`;
      tell(
        node,
        message,
        'Leave it out; write elements of <head>, and attributes of <html> and <body>, in HEAD or <Head>',
      );
    }
  });
  return found.sort((one, other) => one.offset - other.offset);
}

/**
 * Whether a function is named as components are, shows something, and is asynchronous.
 *
 * @param {Node} node
 */
function isAsyncComponent(node) {
  if (node.type !== 'FunctionDeclaration' || !node.async || !/^[A-Z]/.test(node.id?.name ?? '')) {
    return false;
  }
  let shows = false;
  walk(node.body, (one) => {
    if (one.type === 'ReturnStatement' && /^JSX/.test(one.argument?.type)) shows = true;
  });
  return shows;
}

/** @param {Node} node */
function isDocument(node) {
  return node.type === 'JSXOpeningElement' && DOCUMENT.has(node.name.name);
}

/**
 * Return the place of an endpoint as Next.js has them, in a file that nothing imports.
 *
 * @param {Node} program
 * @param {string} source
 * @returns {{ start: number, message: string, remedy: string } | undefined}
 */
export function endpointOf({ body }, source) {
  const [, folder, stem] = source.match(/^(?:(.*)\/)?([^/.]+)\.[cm]?[jt]sx?$/) ?? [];
  const isRoute = stem === 'route';
  if (!isRoute && !/(^|\/)api(\/|$)/.test(folder ?? '')) return undefined;
  const found = body.find((/** @type {Node} */ { type, declaration }) =>
    isRoute
      ? type === 'ExportNamedDeclaration' &&
        boundNames(declaration).some((name) => METHOD.test(name))
      : type === 'ExportDefaultDeclaration',
  );
  if (found === undefined) return undefined;
  const message = 'nothing calls it: endpoints are written in Python';
  const file = isRoute
    ? 'a .py file below pages/api'
    : `'${stem}.py' with 'async def get(request)'`;
  return { start: found.start, message, remedy: `Write ${file}` };
}

/** @typedef {(node: Node, ...told: string[]) => void} Tell */

/**
 * @param {Node} node a statement of the file
 * @param {Tell} tell
 */
function exportMistakes(node, tell) {
  if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) return;
  const { declaration } = node;
  const parts =
    declaration.type === 'VariableDeclaration' ? declaration.declarations : [declaration];
  for (const part of parts) {
    for (const name of boundNames(part)) {
      if (!Object.hasOwn(EXPORTS, name) || !isNext(name, part.init)) continue;
      tell(part, `nothing reads the export '${name}'`, EXPORTS[name]);
    }
  }
}

/**
 * Whether an export is one of Next.js.
 *
 * @param {string} name
 * @param {Node | null | undefined} value
 */
function isNext(name, value) {
  if (!COMMON.has(name)) return true;
  if (value?.type === 'ObjectExpression') return name === 'metadata' || name === 'viewport';
  if (value?.type !== 'Literal') return false;
  if (name === 'revalidate') return typeof value.value === 'number' || value.value === false;
  return typeof value.value === 'string' && VALUES.test(value.value);
}

/**
 * @param {Node} component the default export of a page file
 * @param {Tell} tell
 */
function componentMistakes(component, tell) {
  if (component.async) {
    tell(component, ASYNC, `${LOADER}; the component gets it as 'data'`);
  }
  const [props] = component.params;
  for (const { key, promise } of promisedProps(component)) {
    if (key.name === 'params') tell(promise, PROMISE, "Leave out 'Promise<…>', 'await' and 'use'");
  }
  for (const property of props?.type === 'ObjectPattern' ? props.properties : []) {
    if (property.key?.name === 'searchParams') tell(property, ...SEARCH_PARAMS);
  }
  walk(component.body, (node) => {
    if (isProperty(node, props, 'searchParams')) tell(node.property, ...SEARCH_PARAMS);
    const awaited = awaitedIn(node);
    if (awaited === undefined || !isParams(awaited, props)) return;
    tell(awaited, PROMISE, "Leave out 'await', 'use' and 'then'");
  });
}

/**
 * Return what an expression waits for, as a promise.
 *
 * @param {Node} node
 * @returns {Node | undefined}
 */
function awaitedIn({ type, argument, callee, arguments: passed }) {
  if (type === 'AwaitExpression') return argument;
  if (type !== 'CallExpression') return undefined;
  if (callee.name === 'use' || callee.property?.name === 'use') return passed[0];
  return callee.type === 'MemberExpression' && callee.property.name === 'then'
    ? callee.object
    : undefined;
}

/**
 * Whether an expression is the `params` of a page, by the first parameter of its component.
 *
 * @param {Node} node
 * @param {Node | undefined} props
 */
function isParams(node, props) {
  if (props?.type !== 'ObjectPattern') return isProperty(node, props, 'params');
  return props.properties.some(
    (/** @type {Node} */ { key, value }) =>
      key?.name === 'params' && node.type === 'Identifier' && node.name === value.name,
  );
}

/**
 * @param {Node} node
 * @param {Node | undefined} props the first parameter of a component
 * @param {string} name
 */
function isProperty(node, props, name) {
  return (
    props?.type === 'Identifier' &&
    node.type === 'MemberExpression' &&
    node.object.name === props.name &&
    node.property.name === name
  );
}

/**
 * Return the properties that a page says it gets as promises, as in Next.js from 15 on.
 *
 * @param {Node} component
 * @returns {{ key: Node, promise: Node }[]}
 */
export function promisedProps(component) {
  /** @type {{ key: Node, promise: Node }[]} */
  const found = [];
  const types = component.params[0]?.typeAnnotation?.typeAnnotation;
  for (const { key, typeAnnotation } of types?.members ?? []) {
    const promise = typeAnnotation?.typeAnnotation;
    if (promise?.type === 'TSTypeReference' && promise.typeName.name === 'Promise') {
      found.push({ key, promise });
    }
  }
  return found;
}

/**
 * @param {Node} program
 * @returns {Node | undefined}
 */
export function defaultFunction(program) {
  const exported = program.body.find(
    (/** @type {Node} */ { type }) => type === 'ExportDefaultDeclaration',
  )?.declaration;
  const named = exported?.type === 'Identifier' ? functionOf(program, exported.name) : exported;
  return /Function/.test(named?.type ?? '') ? named : undefined;
}

/**
 * @param {Node} program
 * @param {string} name
 * @returns {Node | undefined}
 */
function functionOf(program, name) {
  for (const node of program.body) {
    const declared = node.declaration ?? node;
    if (declared.id?.name === name) return declared;
    for (const one of declared.declarations ?? []) if (one.id.name === name) return one.init;
  }
  return undefined;
}
