// What UI code means: `node programs.mjs TOOLCHAIN`, a list of texts on stdin, and on stdout for
// each of them its program without its form: no JSX, types, places, quotes, parentheses.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.argv[2], 'package.json'));
const bundler = createRequire(require.resolve('vite'));
const { parseSync, transformSync } = await import(
  pathToFileURL(bundler.resolve('rolldown/utils')).href
);

const FORM = new Set(['start', 'end', 'loc', 'range', 'raw', 'extra', 'shorthand']);

const HELPERS = /^(react\/jsx-runtime$|@oxc-project\/runtime\/)/;

function plain(key, value) {
  if (FORM.has(key)) return undefined;
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return value.filter((one) => one?.type !== 'EmptyStatement');
  if (value?.type === 'TemplateElement') return { cooked: value.value.cooked };
  if (value?.type === 'Property' && !value.computed) {
    const name = value.key.type === 'Literal' ? String(value.key.value) : value.key.name;
    return withChildren({ ...value, key: { type: 'Identifier', name } });
  }
  if (value === 'jsxs') return 'jsx';
  return value;
}

/** Text in several expressions, such as `a{" "}`, is one text on the screen. */
function joined(elements) {
  const found = [];
  for (const one of elements) {
    const last = found.at(-1);
    const texts = [last, one].every((each) => typeof each?.value === 'string');
    if (texts) found[found.length - 1] = { type: 'Literal', value: last.value + one.value };
    else found.push(one);
  }
  return found;
}

function withChildren(property) {
  const { key, value } = property;
  if (key.name !== 'children' || value.type !== 'ArrayExpression') return property;
  const elements = joined(value.elements);
  return { ...property, value: elements.length === 1 ? elements[0] : { ...value, elements } };
}

const parts = [];
for await (const part of process.stdin) parts.push(part);
const texts = JSON.parse(Buffer.concat(parts).toString('utf8'));
const programs = texts.map((text) => {
  const { code, errors } = transformSync('page.tsx', text, {
    lang: 'tsx',
    typescript: { onlyRemoveTypeImports: true },
    decorator: { legacy: true },
  });
  if (errors.length > 0) return { error: String(errors[0].message) };
  const { program } = parseSync('page.jsx', code, { lang: 'jsx', preserveParens: false });
  // Where the compiler puts its own imports depends on empty statements.
  const own = program.body.filter((one) => !HELPERS.test(one.source?.value));
  return { program: JSON.stringify(own, plain) };
});
process.stdout.write(JSON.stringify(programs));
