"""The project that the browser tests click through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.bundle.project import Project

LAYOUT = """import { useState } from 'react';
import { Head, Link, navigate, refresh, Slot, useNavigation } from 'fx/client';
export default function Layout({ children, data }) {
  const [count, setCount] = useState(0);
  const { pending } = useNavigation();
  if (globalThis.breakLayout) throw new Error('the layout broke');
  return (
    <div>
      <Head><title>Site</title><meta name="description" content="site" /></Head>
      <button id="count" onClick={() => setCount(count + 1)}>{count}</button>
      <i id="pending">{String(pending)}</i>
      <nav>
        <Link href="/">home</Link>
        <Link href="/about">about</Link>
        <Link href="/item/1">one</Link>
        <Link href="/item/2">two</Link>
        <Link href="/broken" prefetch={false}>broken</Link>
        <Link href="/moved" prefetch={false}>moved</Link>
        <Link href="/throws">throws</Link>
        <Link href="/long#far" prefetch={false}>far</Link>
        <Link href="/slow" prefetch={false}>slow</Link>
        <Link href="/about?seen" prefetch="viewport">seen</Link>
      </nav>
      <button id="refresh" onClick={() => refresh()}>refresh</button>
      <button id="query" onClick={() => navigate('?q=' + count)}>query</button>
      <aside><Slot name="side">no side</Slot></aside>
      {children}
    </div>
  );
}
"""
HOME = """import './home.css';
import { useState } from 'react';
import { ClientOnly, Head, useSearchParams } from 'fx/client';
export const slots = { side: ({ data }) => <b>{data.side}</b> };
export default function Home({ data }) {
  const [text, setText] = useState('');
  return (
    <main>
      <Head><title>Home</title><script src="/counted.js" /></Head>
      <h1 id="home">Home {data.n}</h1>
      <input id="text" value={text} onChange={(event) => setText(event.target.value)} />
      <p id="q">{useSearchParams().get('q')}</p>
      <ClientOnly fallback={<em>server</em>}>{() => <em>{location.pathname}</em>}</ClientOnly>
    </main>
  );
}
"""
ABOUT = """import './about.css';
import { Head } from 'fx/client';
export default function About({ data }) {
  return (
    <main>
      <Head><meta name="description" content="about" /></Head>
      <h1 id="about">About {data.n}</h1>
    </main>
  );
}
"""
ITEM = """import { useState } from 'react';
import { useParams } from 'fx/client';
export default function Item() {
  const { id } = useParams();
  const [first] = useState(id);
  return <h1 id="item">{id} {first}</h1>;
}
"""
ERROR = """export default function Failed({ error, reset }) {
  return <section id="failed"><p>{error.statusCode} {error.type}: {error.message}</p>
    {reset && <button id="reset" onClick={reset}>again</button>}</section>;
}
"""
THROWS = """export default function Throws() {
  if (globalThis.window && !window.calm) throw new RangeError('thrown in the browser');
  return <h1 id="calm">calm</h1>;
}
"""
LONG = """export default () => <div><div style={{ height: 3000 }} /><h2 id="far">far</h2>
  <div style={{ height: 3000 }} /></div>;
"""
FORM = """import { useState } from 'react';
import { Form, useAction } from 'fx/client';
export default function Page({ actionData }) {
  const [said, setSaid] = useState('');
  const save = useAction('save');
  return (
    <main>
      <h1 id="form">{actionData ? actionData.error : 'Form'}</h1>
      <Form id="f" action="save" reset onSuccess={(data) => setSaid('ok ' + data.id)}
        onError={(message, fields) => setSaid(message + ' ' + JSON.stringify(fields))}>
        {({ pending, error, fields }) => (
          <>
            <input name="title" defaultValue="t" /><input name="tag" defaultValue="a" />
            <input name="tag" defaultValue="b" /><input type="file" name="file" />
            <button name="kind" value="pressed">{pending ? 'saving' : 'save'}</button>
            <b id="error">{error}</b><b id="field">{fields.title?.join()}</b>
          </>
        )}
      </Form>
      <button id="call" onClick={() => save({ n: 1 })}>call</button>
      <p id="called">{save.pending ? 'pending' : save.error ?? save.data?.id}</p>
      <p id="said">{said}</p>
    </main>
  );
}
"""
TEMPLATE = """import { useState } from 'react';
export default function Template({ children }) {
  const [made] = useState(() => (globalThis.made = (globalThis.made ?? 0) + 1));
  return <div data-made={globalThis.window ? made : 0} suppressHydrationWarning>{children}</div>;
}
"""
EXTRAS = """import { useState } from 'react';
import { Script, useAuth } from 'fx/client';
export default function Extras() {
  const [ready, setReady] = useState(0);
  const { status, user, login, logout } = useAuth();
  const count = () => setReady((before) => before + 1);
  return (
    <main>
      <h1 id="extras">{ready}</h1>
      <Script src="/counted.js" onReady={count} />
      <Script src="/counted.js" strategy="lazyOnload" onReady={count} />
      <Script id="inline-script">{'window.inline = (window.inline ?? 0) + 1;'}</Script>
      <Script src="/missing.js" onError={(error) => { window.failed = error.message; }} />
      <p id="user">{status} {user?.email}</p>
      <button id="login" onClick={() => login({ email: 'a@b.c' })}>in</button>
      <button id="logout" onClick={() => logout()}>out</button>
    </main>
  );
}
"""
DEFERRED = """import { useState } from 'react';
import { Head } from 'fx/client';
export default function Late({ data }) {
  const [count, setCount] = useState(0);
  return (
    <main>
      <Head><title>{data.text}</title></Head>
      <button id="late" onClick={() => setCount(count + 1)}>{data.text} {count}</button>
    </main>
  );
}
"""

IDS = {"/": 0, "/about": 1, "/item/1": 2, "/item/2": 2, "/broken": 3, "/throws": 5, "/long": 6}
FORM_ID = 7
EXTRAS_ID = 8
DEFERRED_ID = 9


def make_project(root: Path) -> Project:
    """Stage all pages."""
    project = Project(root)
    project.write("pages/home.css", "#home { color: rgb(255, 0, 0) } h1 { margin: 7px }")
    project.write("pages/about.css", "#about { color: rgb(0, 0, 255) }")
    around = (("pages/layout.fxl", False),)
    surroundings: dict[str, Any] = {"layouts": around, "boundaries": (3, 4)}
    project.page("pages/index.fxl", HOME, **surroundings)
    project.page("pages/about.fxl", ABOUT, **surroundings)
    with_template = (*around, ("pages/item/template.fxl", True))
    project.page("pages/item/[id].fxl", ITEM, layouts=with_template, boundaries=(3, 4))
    project.page("pages/error.fxl", ERROR, kind="error", layouts=around, boundaries=(4,))
    project.page("pages/error.fxl", ERROR, kind="error")
    project.page("pages/throws.fxl", THROWS, **surroundings)
    project.page("pages/long.fxl", LONG, **surroundings)
    project.page("pages/form.fxl", FORM, **surroundings)
    project.page("pages/extras.fxl", EXTRAS, **surroundings)
    project.page("pages/late/index.fxl", DEFERRED, loading="pages/late/loading.fxl", **surroundings)
    project.add("pages/late/loading.fxl", "export default () => <i>loading</i>;\n")
    project.add("pages/layout.fxl", LAYOUT)
    project.add("pages/item/template.fxl", TEMPLATE)
    return project
