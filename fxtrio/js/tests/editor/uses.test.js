import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { MessageReader, encodeMessage } from '../../editor/messages.js';
import { offsetIn, rangesIn } from '../../editor/places.js';
import { Origins } from '../../editor/origins.js';
import { Trees } from '../../editor/trees.js';
import { namesOf, wantedAt } from '../../editor/unfinished.js';
import { usesOf } from '../../editor/uses.js';
import { loadTools } from '../../check/checker.js';

const tools = await loadTools(fileURLToPath(new URL('../..', import.meta.url)));

/** @param {string} text */
function parse(text) {
  const { errors, program } = tools.parse('a.tsx', text, { lang: 'tsx', range: true });
  return errors.length > 0 ? null : /** @type {any} */ (program);
}

const trees = new Trees(parse);

/** @param {string} text */
const originsIn = (text) => new Origins(/** @type {any} */ (trees.of(text)), tools.analyze);

/** @param {string} text */
const usesIn = (text) => usesOf(originsIn(text));

/**
 * Return the uses in a page, as `text=origin`.
 *
 * @param {string} text
 */
function uses(text) {
  const whole = `import { Form, Link, navigate, useAction, useParams } from 'fx/client';\n${text}`;
  return usesIn(whole)
    .filter(({ kind }) => kind !== 'variable')
    .map((use) => {
      const named = use.origin?.join('.') ?? use.name ?? use.href;
      return `${whole.slice(use.start, use.end)}=${named}${use.shorthand ? ' short' : ''}`;
    });
}

/** @param {string} body */
const page = (body) => `export default function Page({ data }) { ${body} }`;

/** @type {[string, string, string[]][]} */
const CASES = [
  ['chains', 'return data.a?.b!.c;', ['a=data.a', 'b=data.a.b', 'c=data.a.b.c']],
  ['text in brackets', "return data['a-b'];", ['a-b=data.a-b']],
  ['elements', 'return data.a[0].b;', ['a=data.a', 'b=data.a.[].b']],
  [
    'patterns',
    'const { a: { b = 1 }, ...rest } = data; return rest.c;',
    ['a=data.a', 'b=data.a.b short', 'c=data.c'],
  ],
  ['loops', 'for (const { a } of data.as) f(a);', ['a=data.as.[].a short', 'as=data.as']],
  [
    'callbacks',
    'return data.as.filter((one) => one.b).sort((x, y) => x.c - y.c).map(({ d }, i) => d);',
    [
      'as=data.as',
      'filter=data.as.filter',
      'b=data.as.[].b',
      'sort=data.as.sort',
      'c=data.as.[].c',
      'c=data.as.[].c',
      'map=data.as.map',
      'd=data.as.[].d short',
    ],
  ],
  ['states', 'const [a] = useState(data.a); return a.b;', ['a=data.a', 'b=data.a.b']],
  ['names of others', 'const other = { data: 1 }; return other.data;', []],
  ['names that hide it', 'return xs.map((data) => data.a);', []],
  [
    'links',
    'navigate("/a"); return <Link href={`/b/${data.id}`}><a href="/c" /></Link>;',
    ['/a=/a', '/b/${data.id}=/b/{}', 'id=data.id', '/c=/c'],
  ],
  [
    'actions',
    "const go = useAction('go'); const { n } = await go({ a: 1 }); return go.fields.a;",
    ['go=go', 'n=action.go.data.n short', 'a=action.go.body.a', 'a=action.go.body.a'],
  ],
  [
    'forms',
    'return <Form action="go">{({ data }) => <input name="a" value={data.n} />}</Form>;',
    ['go=go', 'data=action.go.data short', 'a=action.go.body.a', 'n=action.go.data.n'],
  ],
  ['forms that get', 'return <Form method="get" action="/s"><input name="q" /></Form>;', ['/s=/s']],
];

for (const [name, body, expected] of CASES) {
  test(`uses: ${name}`, () => {
    const found = uses(page(body.includes('await') ? `async () => { ${body} }` : body));

    assert.deepEqual(
      found.filter((one) => !one.startsWith('data=data')),
      expected,
    );
  });
}

test('uses: components of the file, when all hand them the same', () => {
  const card = 'function Card({ one }) { return one.a; }\n';

  assert.ok(uses(card + page('return <Card one={data.x} />;')).includes('a=data.x.a'));
  const two = uses(card + page('return [<Card one={data.x} />, <Card one={data.y} />];'));
  assert.ok(!two.some((one) => one.startsWith('a=')));
});

test('uses: default exports by name, in memo, and as arrows', () => {
  for (const text of [
    'function Page({ data }) { return data.a; }\nexport default Page;',
    'const Page = memo((props) => props.data.a);\nexport default memo(Page);',
    'export default ({ data }) => data.a;',
    'export default memo(function ({ data }) { return data.a; });',
  ]) {
    assert.ok(uses(text).includes('a=data.a'), text);
  }
});

test('what is wanted in whole and in broken files', () => {
  const whole = page('const { as } = data; return as.map((one) => one.b);');
  const names = namesOf(originsIn(whole));
  /** @param {string} text with a mark at the place */
  const wanted = (text) => {
    const offset = text.indexOf('|');
    const plain = text.replace('|', '');
    const found = wantedAt(trees, tools.analyze, plain, offset, () => names);
    return found && [found.kind, found.origin?.join('.'), plain.slice(found.start, found.end)];
  };

  assert.deepEqual(wanted(page('return data.|;')), ['key', 'data', '']);
  assert.deepEqual(wanted(page('return data.a.b|c;')), ['key', 'data.a', 'bc']);
  assert.deepEqual(wanted(page('const { | } = data;')), ['key', 'data', '']);
  assert.deepEqual(wanted(page('return as.map((one) => one.|')), ['key', 'data.as.[]', '']);
  assert.deepEqual(wanted(page('return data.as[0].|')), ['key', 'data.as.[]', '']);
  assert.deepEqual(wanted(page("useAction('s|")), ['action', undefined, 's']);
  assert.deepEqual(wanted(page('return <Link className="x" href="/a|')), ['link', undefined, '/a']);
  assert.equal(wanted(page('return other.|')), null);
  assert.equal(wanted('|'), null);
});

test('no half-written file is too much', () => {
  const text = page(CASES.map(([, body]) => `async () => { ${body} };`).join('\n'));
  for (let offset = 0; offset <= text.length; offset += 3) {
    for (const half of [text.slice(0, offset), text.slice(offset), `${text.slice(0, offset)}\n}`]) {
      if (trees.of(half) !== null) usesIn(half);
      wantedAt(trees, tools.analyze, half, Math.min(offset, half.length), () => new Map());
    }
  }
});

test('messages come out as they went in, however they are cut', () => {
  const messages = ['ü😀', [1, 2]].map((a) => ({ jsonrpc: '2.0', a }));
  const bytes = Buffer.concat(messages.map(encodeMessage));
  for (let size = 1; size < bytes.length; size += 7) {
    const reader = new MessageReader();
    const found = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...reader.feed(bytes.subarray(at, at + size)));
    }
    assert.deepEqual(found, messages);
  }
});

test('places are lines and UTF-16 units', () => {
  const text = 'a😀b\n\nc';
  for (let offset = 0; offset <= text.length; offset += 1) {
    const { start } = rangesIn(text)({ start: offset, end: offset });
    assert.equal(offsetIn(text, start), offset);
  }
  assert.equal(offsetIn(text, { line: 0, character: 99 }), 4);
  assert.equal(offsetIn(text, { line: 9, character: 0 }), text.length);
});
