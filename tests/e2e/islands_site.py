"""A project whose pages are HTML but for islands."""

from __future__ import annotations

from tests.trees import page

COUNTER = """
import { useId, useState } from 'react';

export default function Counter({ start = 0, name = 'Count' }) {
  const [count, setCount] = useState(start);
  const id = useId();
  return <button id={id} onClick={() => setCount(count + 1)}>{`${name} ${count}`}</button>;
}
"""
PARTS = """
import { Component, useEffect, useState } from 'react';
import { Island } from 'fx/client';
import { Inner } from './inner';

export { Inner };
export function Text({ children }) {
  const [text, setText] = useState(children);
  useEffect(() => setText(`${children} lives`), [children]);
  return text;
}
export function Nothing() {
  const [shown, setShown] = useState(false);
  useEffect(() => setShown(true), []);
  return shown && <b>Nothing lives</b>;
}
export function Zero() {
  const [text, setText] = useState('');
  useEffect(() => setText('Zero lives'), []);
  return <div style={{ display: 'contents' }}><i>{text}</i></div>;
}
export function Outer() {
  return <p><Island when="visible"><Inner /></Island></p>;
}
export function Differs() {
  return <p>{typeof window === 'undefined' ? 'of the server' : 'of the browser'}</p>;
}
export function Failing() {
  if (typeof window !== 'undefined') throw new Error('it fails');
  return <p>Failing stays</p>;
}
export function FailingLater() {
  const [count, setCount] = useState(0);
  if (count > 1) throw new Error('it fails later');
  return <button onClick={() => setCount(count + 1)}>{`Later ${count}`}</button>;
}
"""
HOOKS = """
import { useState } from 'react';
import {
  ClientOnly, Form, Head, Image, Link, navigate, refresh, Script, useAction, useAuth,
  useNavigation, useNonce, useParams, usePathname, useSearchParams, useStream,
} from 'fx/client';

export function Hooks() {
  const add = useAction('add');
  const { values } = useStream('ticks');
  const { state } = useNavigation();
  const { status } = useAuth();
  const [sent, setSent] = useState('');
  const where = `${usePathname()} ${useParams().id} ${useSearchParams().get('q')} ${state}`;
  return (
    <section>
      <Head><meta name="island" content="is there" /></Head>
      <Script>{'window.ran = (window.ran ?? 0) + 1'}</Script>
      <p id="where">{where}</p>
      <p id="status">{`${status} ${useNonce() === '' ? 'without' : 'with'} a nonce`}</p>
      <p id="ticks">{values.map((one) => one.n).join(' ')}</p>
      <ClientOnly fallback="server">browser</ClientOnly>
      <Image src="/x.svg" alt="x" width="1" height="1" />
      <Link href="/one">One</Link>
      <button onClick={() => add({ text: 'tea' })}>{`Add ${add.data?.added ?? ''}`}</button>
      <button onClick={() => add({ text: '' })}>Fail</button>
      <button onClick={() => navigate('/many')}>Go</button>
      <button onClick={() => refresh()}>Refresh</button>
      <Form action="add" onSuccess={({ added }) => setSent(added)}>
        {({ error }) => (
          <p><input name="text" aria-label="Text" /><button>Send</button>
            <b role="alert">{error ?? sent}</b></p>
        )}
      </Form>
    </section>
  );
}
"""
HOOKS_PAGE = page(
    """
    import trio

    COUNT = {"seen": 0}

    @server
    async def load(request):
        COUNT["seen"] += 1
        return dict(COUNT)

    @action
    async def add(request):
        text = (await request.json())["text"]
        if not text:
            raise ActionError("Write something.")
        return {"added": f"{text} for {request.path_params['id']}"}

    @stream
    async def ticks(request):
        for number in range(2):
            yield {"n": number}
    """,
    """
    import { Island } from 'fx/client';
    import { Hooks } from '../../components/hooks';
    export default ({ data }) => (
      <main><h1>{`Seen ${data.seen}`}</h1><Island><Hooks /></Island></main>
    );
    """,
)
MANY = page(
    """
    @server
    async def load(request):
        return {"rows": [{"id": 1, "name": "</script><b>"}, {"id": 2, "name": "Two & \\"2\\""}]}
    """,
    """
    import { useId } from 'react';
    import { Island, Link } from 'fx/client';
    import Counter from '../components/counter';
    import { Nothing, Outer, Text, Zero } from '../components/parts';

    export default function Many({ data }) {
      return (
        <main id={useId()}>
          <Link href="/one">One</Link>
          <Island><Counter name="First" start={5} /></Island>
          <Island when="idle"><Counter name="Second" /></Island>
          <table>
            <tbody>{data.rows.map((row) => (
              <tr key={row.id}>
                <th>{row.id}</th>
                <Island as="td" className="cell"><Counter {...row} start={row.id} /></Island>
              </tr>
            ))}</tbody>
          </table>
          <Island><Outer /></Island>
          <Island when="visible"><Text>Text</Text></Island>
          <p><Island when="visible"><Nothing /></Island></p>
          <div style={{ display: 'contents' }}><Island when="visible"><Zero /></Island></div>
          <div hidden><Island when="visible"><Counter name="Hidden" /></Island></div>
        </main>
      );
    }
    """,
)
ONE = """
import { Island } from 'fx/client';
import Counter from '../components/counter';

export default function One() {
  return (
    <main>
      <h1>One</h1>
      <div style={{ height: '3000px' }} />
      <Island when="visible"><Counter /></Island>
    </main>
  );
}
"""
FAILS = """
import { Island } from 'fx/client';
import { Differs, Failing, FailingLater } from '../components/parts';

export default function Fails() {
  return (
    <main>
      <Island><Failing /></Island>
      <Island><FailingLater /></Island>
      <Island><Differs /></Island>
    </main>
  );
}
"""
WRONG = page(
    """
    from datetime import UTC, datetime

    @server
    async def load(request):
        return {"start": 1}
    """,
    """
    import { Island } from 'fx/client';
    import Counter from '../components/counter';

    export default ({ data }) => <Island><Counter at={{ when: new Map() }} /></Island>;
    """,
)
STATEFUL_LAYOUT = """
import { Island, Link } from 'fx/client';
import Counter from '../../components/counter';

export default function Layout({ children }) {
  return (
    <>
      <nav><Link href="/kept/live">Live</Link> <Link href="/kept/plain">Plain</Link></nav>
      <Island><Counter name="Kept" /></Island>
      {children}
    </>
  );
}
"""
LIVE = """
import { useState } from 'react';

export default function Live() {
  const [count, setCount] = useState(0);
  return <main><h1>Live</h1><button onClick={() => setCount(count + 1)}>{count}</button></main>;
}
"""
FORGED = page(
    """
    @server
    async def load(request):
        return {"html": request.query_params.get("html", "")}
    """,
    """
    import { Island as Lazy } from 'fx/client';
    import { Inner } from '../components/parts';

    export default ({ data }) => (
      <main>
        <div dangerouslySetInnerHTML={{ __html: data.html }} />
        <Lazy><Inner name="Ours" start={3} /></Lazy>
      </main>
    );
    """,
)
"""A page that shows HTML of users, of which a sanitizer has left ids and `data-*`."""

FORGED_LIVE = page(
    """
    @server
    async def load(request):
        return {"html": request.query_params.get("html", "")}
    """,
    """
    import { useState } from 'react';
    import * as fx from 'fx/client';
    import Counter from '../components/counter';

    export default function Live({ data }) {
      const [count, setCount] = useState(0);
      return (
        <main>
          <div dangerouslySetInnerHTML={{ __html: data.html }} />
          <button onClick={() => setCount(count + 1)}>{`Live ${count}`}</button>
          <fx.Island><Counter /></fx.Island>
        </main>
      );
    }
    """,
)
EVIL = "self.evil = true; export default () => 'evil';"
ISLANDS = {
    "fx.config.json": '{"csp": "enforce"}',
    "components/counter.jsx": COUNTER,
    "components/inner.jsx": COUNTER.replace("default function Counter", "function Inner").replace(
        "'Count'", "'Inner'"
    ),
    "components/parts.jsx": PARTS,
    "pages/one.fxl": ONE,
    "pages/many.fxl": MANY,
    "pages/kept/layout.fxl": STATEFUL_LAYOUT,
    "pages/kept/live.fxl": LIVE,
    "pages/kept/plain.fxl": "export default () => <main><h1>Plain</h1></main>;",
    "public/x.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}
"""What an export can have, too."""

SERVED = {
    **ISLANDS,
    "components/hooks.jsx": HOOKS,
    "pages/hooks/[id].fxl": HOOKS_PAGE,
    "pages/fails.fxl": FAILS,
    "pages/forged.fxl": FORGED,
    "pages/forged-live.fxl": FORGED_LIVE,
    "pages/wrong.fxl": WRONG,
    "public/evil.js": EVIL,
}
