import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { createElement, Suspense, use } from 'react';
import { renderToString } from 'react-dom/server';

import {
  ClientOnly,
  Form,
  Head,
  Image,
  Link,
  Script,
  Slot,
  useAction,
  useAuth,
  useData,
  useLayoutData,
  useNavigation,
  useNonce,
  useParams,
  usePathname,
  useSearchParams,
  useWebSocket,
} from '../../client/index.js';
import { collect, render, renderers } from '../rendering.js';
import { makeState } from '../states.js';

const h = createElement;

test('the HTML is the inside of the root element', () => {
  assert.deepEqual(
    render(() => h('p', null, 'Hé')),
    { head: '', html: '<p>Hé</p>' },
  );
});

test('an exported page without scripts cannot ask for its query', () => {
  const Page = () => h('p', null, useSearchParams().get('x') ?? 'none');
  const { page } = makeState();

  assert.throws(
    () => render(Page, { page: { ...page, exported: true, scripts: false } }),
    /useSearchParams: an exported page without scripts has no query/,
  );
  assert.equal(render(Page, { page: { ...page, exported: true } }).html, '<p>none</p>');
});

test('links of pages without scripts may be loaded beforehand, but for endpoints', () => {
  const links = () => [
    h(Link, { href: '/a', key: 1 }),
    h(Link, { href: '/b', prefetch: false, key: 2 }),
    h(Link, { href: '/api/c', key: 3 }),
    h(Link, { href: '/shop/api/c?x', key: 5 }),
    h(Link, { href: '/file', download: true, key: 6 }),
    h(Link, { href: 'https://example.com/', key: 4 }),
  ];
  const { page } = makeState();
  const marked = /** @type {string} */ (render(links, { page: { ...page, scripts: false } }).html);

  assert.deepEqual(marked.match(/<a data-fx-prefetch="" href="[^"]*">/g), [
    '<a data-fx-prefetch="" href="/a">',
  ]);
  assert.ok(!render(links).html.includes('data-fx-prefetch'));
});

test('of several titles that React hoists the last is shown, as it is with scripts', async () => {
  const layout = (/** @type {any} */ { children }) => [h('title', { key: 1 }, 'Site'), children];
  const page = () => [h('title', { key: 1 }, 'A & B'), h('meta', { key: 2, name: 'a' }), 'x'];
  const whole = render(page, {}, { layouts: [layout] });
  const streamed = await collect(renderers(page, { layouts: [layout] }), makeState({ layouts: 1 }));

  for (const { head } of [whole, streamed]) {
    assert.equal(head, '<title>A &amp; B</title><meta name="a"/>');
  }
});

test('what React hoists goes into the head', () => {
  const { head, html } = render(() =>
    h('p', null, h('title', null, 'T'), h('link', { rel: 'preload', as: 'font', href: '/f' }), 'x'),
  );
  assert.equal(html, '<p>x</p>');
  assert.match(head, /<title>T<\/title>/);
  assert.match(head, /<link rel="preload"/);
});

test('HEAD and <Head> of layout and page merge in the order of their importance', () => {
  const Layout = (/** @type {any} */ { children }) =>
    h('div', null, children, h(Head, null, h('title', null, 'layout <Head>')));
  const plain = () => h('p');
  const titled = () => h('p', null, h(Head, null, h('title', null, 'page <Head>')));
  /** @type {import('../../client/types.js').HeadNode[][]} */
  const head = [[['title', {}, 'layout HEAD']], [['title', {}, 'page HEAD']]];
  const title = (/** @type {any} */ page, /** @type {any} */ values) =>
    render(page, { head: values }, { layouts: [Layout] }).head;
  assert.equal(title(plain, [head[0], []]), '<title data-fx-head="">layout &lt;Head&gt;</title>');
  assert.equal(title(plain, head), '<title data-fx-head="">page HEAD</title>');
  assert.equal(title(titled, head), '<title data-fx-head="">page &lt;Head&gt;</title>');
});

test('one render leaves nothing to the next', () => {
  /** @type {any} */
  const { render: again } = renderers((/** @type {any} */ { data }) =>
    data.title ? h(Head, null, h('title', null, data.title)) : h('p'),
  );
  const titled = makeState();
  titled.props.data = { title: 'T' };
  assert.match(again(0, titled).head, /T/);
  assert.equal(again(0, makeState()).head, '');
});

test('an error of a component leaves the render', () => {
  const Broken = () => {
    throw new RangeError('broken');
  };
  assert.throws(() => render(Broken), RangeError);
});

test('hooks know the page on the server', () => {
  const Page = () => {
    const { state } = useNavigation();
    const { status } = useAuth();
    const socket = useWebSocket();
    const known = [
      usePathname(),
      useParams().id,
      useSearchParams().get('x'),
      useNonce(),
      state,
      status,
      socket.status,
    ];
    return h('p', null, known.join(' '));
  };
  const state = { requestedPath: '/app/blog/5?x=1', params: { id: '5' }, nonce: 'n0' };
  const { html } = render(Page, state, { base: '/app' });
  assert.equal(html, '<p>/blog/5 5 1 n0 idle loading connecting</p>');
});

/** Writes what it knows of data. */
const Knows = () => h('i', null, `${JSON.stringify(useData())} ${JSON.stringify(useLayoutData())}`);

/** @param {string} html */
const known = (html) =>
  [...html.replaceAll('&quot;', '"').matchAll(/<i>(.*?)<\/i>/g)].map(([, text]) => text);

test('a component deep in a page or layout knows the data of what it stands in', () => {
  const Layout = (/** @type {any} */ { children }) => [h(Knows, { key: 1 }), children];
  const { html } = render(
    () => h('p', null, h(Knows)),
    {
      props: { data: { p: 1 }, layoutData: { a: 1, b: 2 } },
      layouts: [{ a: 1, b: 1 }, { b: 2 }],
    },
    { layouts: [Layout, Layout] },
  );
  assert.deepEqual(known(html), [
    '{"a":1,"b":1} {"a":1,"b":1}',
    '{"b":2} {"a":1,"b":2}',
    '{"p":1} {"a":1,"b":2}',
  ]);
});

test('what a page puts into a layout knows the data of the page', () => {
  const Layout = () => h(Slot, { name: 'aside' });
  const state = {
    props: { data: { p: 1 }, layoutData: { a: 1 } },
    layouts: [/** @type {true} */ (true)],
  };
  for (const aside of [Knows, h(Knows)]) {
    const { html } = render(() => null, state, { layouts: [Layout], slots: { aside } });
    assert.deepEqual(known(html), ['{"p":1} {"a":1}']);
  }
});

test('data that comes later is known to the components of its page', async () => {
  const state = { ...makeState(), deferred: true };
  const app = renderers(() => h(Knows), { loading: () => h('b', null, 'waits') });
  const { html } = await collect(app, state, {
    deferred: () => Promise.resolve({ late: true }),
  });
  assert.deepEqual(known(html), ['{"late":true} {}']);
});

test('the signed-in user of the state is known at once', () => {
  const Page = () => h('p', null, useAuth().status, ' ', useAuth().user?.email);
  const { html } = render(Page, { user: { id: 1, email: 'a@b.c' } });
  assert.match(html, /signed-in.*a@b\.c/);
});

test('links and images of the app get the base', () => {
  const Page = () => [
    h(Link, { key: 1, href: '/about', prefetch: 'viewport' }, 'a'),
    h(Link, { key: 2, href: '/' }, 'b'),
    h(Link, { key: 3, href: 'https://x.test' }, 'c'),
    h(Image, { key: 4, src: '/i.png', alt: 'i', width: 1, height: 2 }),
  ];
  const { html } = render(Page, { requestedPath: '/app/' }, { base: '/app' });
  assert.match(html, /<a href="\/app\/about">a<\/a>/);
  assert.match(html, /<a aria-current="page" href="\/app\/">b<\/a>/);
  assert.match(html, /<a href="https:\/\/x.test">c<\/a>/);
  assert.match(
    html,
    /<img loading="lazy" decoding="async" alt="i" width="1" height="2" src="\/app\/i.png"\/>/,
  );
});

test('the link to the root is current, with the slash of the base or without', () => {
  const Page = () => h(Link, { href: '/' }, 'home');
  for (const requestedPath of ['/app', '/app/', '/app?x=1']) {
    assert.match(render(Page, { requestedPath }, { base: '/app' }).html, /aria-current="page"/);
  }
});

test('a form works without JavaScript', () => {
  const Page = () => h(Form, { action: 'save' }, h('input', { name: 'n' }));
  const { html } = render(Page, { requestedPath: '/app/blog/5?x=1' }, { base: '/app' });
  assert.equal(
    html,
    '<form action="/app/api/__actions/blog/5/save?x=1" encType="multipart/form-data" method="post">' +
      '<input name="n"/></form>',
  );
});

test('a form shows why its submission without JavaScript failed, and what was typed', () => {
  const Page = () => {
    const renderInput = (/** @type {any} */ { error, fields, values }) =>
      h('input', { title: `${error}: ${fields.n?.join()}`, defaultValue: values.n });
    return [
      h(Form, { key: 1, action: 'save', children: renderInput }),
      h(Form, { key: 2, action: 'b', children: renderInput }),
    ];
  };
  const fields = { n: ['Too short'] };
  const { html } = render(Page, {
    actionData: {
      action: 'save',
      ok: false,
      error: 'Invalid',
      fields,
      data: {},
      values: { n: '"x"' },
    },
  });
  assert.match(html, /<input title="Invalid: Too short" value="&quot;x&quot;"\/>/);
  assert.match(html, /<input title="null: undefined"\/>/);
});

test('an action has a state before it is called', () => {
  const Page = () => {
    const save = useAction('save');
    return h('p', null, JSON.stringify([typeof save, save.pending, save.data, save.error]));
  };
  assert.match(render(Page).html, /function&quot;,false,null,null/);
});

test('a layout shows what the page fills its slots with, else its own', () => {
  const Layout = (/** @type {any} */ { children }) =>
    h(
      'div',
      null,
      h('aside', null, h(Slot, { name: 'side', tone: 'x' }, 'nothing')),
      h('nav', null, h(Slot, { name: 'constructor' }, 'nothing')),
      children,
    );
  const Side = (/** @type {any} */ { data, tone }) => `${data.a}${tone}`;
  const state = { props: { data: { a: 1 }, layoutData: {} } };
  const { html } = render(() => 'p', state, { layouts: [Layout], slots: { side: Side } });
  assert.equal(html, '<div><aside>1x</aside><nav>nothing</nav>p</div>');
});

test('what only a browser can show is left out', () => {
  const Page = () =>
    h(ClientOnly, {
      fallback: 'wait',
      children: () => {
        throw new Error('must not be called on the server');
      },
    });
  assert.equal(render(Page).html, 'wait');
});

test('a script for the head is written there, with the nonce; others wait for the browser', () => {
  const Page = () => [
    h(Script, { key: 1, src: '/a.js', strategy: 'beforeInteractive' }),
    h(Script, { key: 2, src: '/b.js' }),
  ];
  const { head, html } = render(Page, { nonce: 'n0' });
  assert.equal(head, '<script data-fx-head="" nonce="n0" src="/a.js"></script>');
  assert.equal(html, '');
});

test('a component of fx/client outside of a page says so', () => {
  assert.throws(() => renderToString(h(Link, { href: '/' })), /Link: works only inside a page/);
});

test('a stream sends the shell with its head first, and closes the root element', async () => {
  const Page = () => h('p', null, h(Head, null, h('title', null, 'T')), h('title', null, 'U'), 'x');
  const { head, html } = await collect(renderers(Page), makeState());
  assert.equal(head, '<title>U</title>'); // React's own replaces others
  assert.equal(html, '<p>x</p></div>');
});

test('a deferred page is streamed after its loading fallback', async () => {
  /** @type {(data: object) => void} */
  let arrive = () => {};
  const data = new Promise((resolve) => {
    arrive = resolve;
  });
  const state = { ...makeState(), deferred: true };
  state.page.loading = { module: '/l.js', depth: 0 };
  const app = renderers((/** @type {any} */ props) => h('p', null, props.data.n), {
    loading: () => h('i', null, 'wait'),
  });
  const collected = collect(app, state, {
    deferred: (/** @type {string} */ name) => {
      assert.equal(name, 'page');
      return data;
    },
  });
  setImmediate(() => arrive({ n: 5 }));
  const { html } = await collected;
  const [shell, rest] = html.split('</div>', 2);
  assert.match(shell, /<i>wait<\/i>/);
  assert.match(rest, /<p>5<\/p>/, 'it stands behind the root element');
});

test('the same page without deferral has its data at once', () => {
  const state = makeState();
  state.page.loading = { module: '/l.js', depth: 0 };
  const { html } = render(
    (/** @type {any} */ { data }) => h('p', null, data.n),
    { page: state.page, props: { data: { n: 5 }, layoutData: {} } },
    { loading: () => 'wait' },
  );
  assert.match(html, /<p>5<\/p>/);
  assert.doesNotMatch(html, /wait/);
});

test('an error in the shell is told, and nothing is sent', async () => {
  const Broken = () => {
    throw new RangeError('broken');
  };
  await assert.rejects(collect(renderers(Broken), makeState()), RangeError);
});

const BROKEN = h(function Broken() {
  throw new RangeError('broken');
});
const PAGE = h('p', null, 'page');
const around = (/** @type {any} */ { children }) => h(Suspense, null, children);
const beside = (/** @type {any} */ { children }) => [h(Suspense, { key: 1 }, BROKEN), children];
const SLOW = h(function Slow() {
  return use(turn('late')); // React keeps the first promise
});
const own = { Suspense: (/** @type {any} */ { children }) => h('p', null, children) };

for (const { place, page, layouts = [], endsPage = false } of [
  { place: 'a page', page: h('p', null, BROKEN), endsPage: true },
  { place: 'a page in a boundary of a layout', page: BROKEN, layouts: [around], endsPage: true },
  { place: 'a boundary of the page', page: h(Suspense, null, BROKEN) },
  {
    place: 'the fallback of a boundary of the page',
    page: h(Suspense, { fallback: BROKEN }, SLOW),
    endsPage: true,
  },
  {
    place: "the page's own component Suspense",
    page: h(own.Suspense, null, BROKEN),
    endsPage: true,
  },
  { place: 'a boundary of a layout', page: PAGE, layouts: [beside] },
]) {
  test(`an error in ${place} with a loading fallback`, async () => {
    const state = makeState({ layouts: layouts.length });
    state.page.loading = { module: '/l.js', depth: layouts.length };
    const app = renderers(() => page, { layouts, loading: () => 'wait' });
    /** @type {[string, boolean][]} */
    const reported = [];
    const onError = (/** @type {Error} */ { name }, /** @type {boolean} */ ends) =>
      void reported.push([name, ends]);
    await collect(app, state, { onError });
    assert.deepEqual(reported, [['RangeError', endsPage]]);
    const whole = async () => app.render(0, state);
    if (endsPage) await assert.rejects(whole, RangeError);
    else assert.match((await whole()).html, /<!--\$!-->/);
  });
}

test('a page that waits for too long is left to the browser', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const logged = t.mock.method(console, 'error', () => {});
  const state = makeState();
  state.page.loading = { module: '/l.js', depth: 0 };
  const never = new Promise(() => {});
  const Page = () => /** @type {string} */ (use(never));
  const whole = renderers(Page, { loading: () => 'wait' }).render(0, state);
  await turn();
  t.mock.timers.tick(10_000);
  assert.match((await whole).html, /<!--\$!-->.*wait/s);
  assert.match(String(logged.mock.calls.at(-1)?.arguments), /The page waited longer than 10 s/);
});

test('what waits in a page that has failed is not rendered any more', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  let arrive = () => {};
  const data = new Promise((resolve) => {
    arrive = () => resolve('late');
  });
  let rendered = 0;
  const Delayed = () => {
    const text = /** @type {string} */ (use(data));
    rendered += 1;
    return text;
  };
  const layout = (/** @type {any} */ { children }) => [
    h(Suspense, { key: 1 }, h(Delayed)),
    children,
  ];
  const state = makeState({ layouts: 1 });
  state.page.loading = { module: '/l.js', depth: 1 };
  const app = renderers(() => BROKEN, { layouts: [layout], loading: () => 'wait' });
  await assert.rejects(async () => app.render(0, state), RangeError);
  arrive();
  await turn();
  await turn();
  assert.equal(rendered, 0);
  assert.equal(logged.mock.callCount(), 0);
});

test('a reader that is slow is waited for', async () => {
  const never = new PassThrough({ highWaterMark: 10 });
  const rows = Array.from({ length: 20_000 }, (_, index) =>
    h('li', { key: index }, 'x'.repeat(20)),
  );
  await new Promise((resolve) => {
    const stream = renderers(() => h('ul', null, rows)).stream(0, makeState(), {
      onShellReady: () => {
        stream.pipe(never);
        resolve(undefined);
      },
    });
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(never.readableLength + never.writableLength < 100_000, 'most of it is not written yet');
  never.destroy();
});

test('suspended components stream with the nonce of the state', async () => {
  const value = new Promise((resolve) => setImmediate(() => resolve('late')));
  const Slow = () => h('b', null, use(/** @type {Promise<string>} */ (value)));
  const Page = () => h(Suspense, { fallback: 'wait' }, h(Slow));
  const { html } = await collect(renderers(Page), { ...makeState(), nonce: 'n0' });
  assert.match(html, /<b>late<\/b>/);
  assert.match(html, /<script nonce="n0">/);
});
