"""The project of `test_waits`: pages that wait for actions, deferred values and streams."""

from __future__ import annotations

SITE = {
    "pages/layout.fxl": """
        HEAD = '<link rel="icon" href="data:,">'

        export default function Layout({ children }) {
          return <main>{children}<i id="__fx_values" /></main>; // as HTML of users may have it
        }
    """,
    "pages/likes.fxl": """
        LIKES = []

        @server
        async def load(request):
            return {"count": len(LIKES), "title": "Likes"}

        @action
        async def like(request):
            data = await request.json()
            if data["by"] == "nobody":
                raise ActionError("Sign in first.", 403)
            LIKES.append(data["by"])
            return {}

        @action
        async def like_as(request):
            by = (await request.form())["by"]
            if by == "nobody":
                raise ActionError("Sign in first.", 403)
            LIKES.extend(by)
            return {}

        import { Form, useAction } from "fx/client";

        function Name() {
          return (
            <Form action="like_as" reset onSuccess={() => {}}
              optimistic={(data, form) => ({ count: data.count + form.get("by").length })}>
              {({ optimistic, error, pending }) => (
                <>
                  <output id="in-form">{optimistic.count} {String(pending)} {error}</output>
                  <input id="by" name="by" />
                  <button id="send">send</button>
                </>
              )}
            </Form>
          );
        }

        export default function Likes({ data }) {
          const like = useAction("like", {
            optimistic: ({ count }, { by }) => ({ count: count + by.length }),
          });
          const { count, title } = like.optimistic;
          return (
            <>
              <h1>{title}</h1>
              <output id="shown">{count}</output>
              <output id="stored">{data.count}</output>
              <Name />
              <button id="like" onClick={() => like({ by: "a" })}>like</button>
              <button id="fail" onClick={() => like({ by: "nobody" })}>fail</button>
              <p id="error">{like.error ?? "none"}</p>
              <p id="pending">{String(like.pending)}</p>
            </>
          );
        }
    """,
    "pages/feed.fxl": """
        import trio
        from fx.realtime import Event, Missed
        from fxtrio.errors import BrokerUnreachable

        OPEN = []

        @server
        async def load(request):
            return {"open": len(OPEN)}

        @stream
        async def feed(request, after: str | None):
            OPEN.append(1)
            try:
                first = int(after or 0) + 1
                for number in range(first, first + 3):
                    yield Event({"text": f"value {number}"}, id=str(number))
                if first == 1:
                    yield Missed(2)
                    raise BrokerUnreachable("feed", "answer")
                await trio.sleep_forever()
            finally:
                OPEN.pop()

        import { Link, useStream } from "fx/client";

        function Count() {
          const { values } = useStream("feed", { limit: 2 });
          return <p id="count">{values.length}</p>;
        }

        export default function Feed({ data }) {
          const { values, last, status, missed } = useStream("feed");
          return (
            <>
              <h1>Feed</h1>
              <p id="open">{data.open}</p>
              <p id="values">{values.map((value) => value.text).join()}</p>
              <p id="last">{last?.text}</p>
              <p id="status">{status}</p>
              <p id="missed">{missed}</p>
              <Count />
              <Link href="/likes">Leave</Link>
            </>
          );
        }
    """,
    "pages/fails/index.fxl": """
        import { Suspense } from "react";
        import { Broken } from "../../components/broken.jsx";

        @server
        async def load(request):
            return {"inner": "inner" in request.query_params}

        export default function Fails({ data }) {
          return data.inner ? <Suspense fallback="wait"><Broken /></Suspense> : <Broken />;
        }
    """,
    "pages/fails/cached.fxl": """
        import { Broken } from "../../components/broken.jsx";

        CACHE = {"revalidate": 60}

        export default function Fails() {
          return <Broken />;
        }
    """,
    "pages/fails/loading.fxl": "export default () => <p>loading</p>;",
    "components/broken.jsx": """
        export function Broken() {
          if (typeof window === "undefined") throw new RangeError("none on the server");
          return <b>shown</b>;
        }
    """,
    "pages/typed.fxl": """
        import { useState } from "react";
        import { Link } from "fx/client";

        export default function Typed() {
          const [controlled, setControlled] = useState("first");
          return (
            <>
              <h1>Typed</h1>
              <Link href="/likes">away</Link>
              <a href="#below">below</a>
              <form id="below">
                <input id="text" name="text" defaultValue="default" />
                <input id="controlled" name="controlled" value={controlled}
                  onChange={(event) => setControlled(event.target.value)} />
                <input id="password" name="word" type="password" />
                <input id="shown-password" name="password" />
                <input id="code" name="code" autoComplete="one-time-code" />
                <input id="file" name="file" type="file" />
                <textarea id="long" name="long" />
                <input id="check" name="check" type="checkbox" defaultChecked={true} />
                <select id="one" name="one" defaultValue="b">
                  <option>a</option><option>b</option><option>c</option>
                </select>
              </form>
            </>
          );
        }
    """,
    "pages/moving/layout.fxl": """
        import { ViewTransition } from "react";

        export default function Layout({ children }) {
          return <ViewTransition>{children}</ViewTransition>;
        }
    """,
    "pages/moving/one.fxl": """
        NOTES = ["Milk"]

        @server
        async def load(request):
            return {"notes": NOTES}

        @action
        async def add(request):
            NOTES.append("Bread")
            return {}

        import { ViewTransition } from "react";
        import { Link, refresh, useAction } from "fx/client";

        export default function One({ data }) {
          const add = useAction("add");
          const press = async () => {
            await add();
            await refresh();
          };
          return (
            <>
              <h1>One</h1>
              <button onClick={press}>add</button>
              <Link href="/moving/two">two</Link>
              {data.notes.map((note, index) => (
                <ViewTransition key={index}><p className="note">{note}</p></ViewTransition>
              ))}
            </>
          );
        }
    """,
    "pages/moving/two.fxl": """
        export default function Two() {
          return <h1>Two</h1>;
        }
    """,
    "pages/waits.fxl": """
        @server
        async def load(request):
            return {"step": request.query_params.get("step", "")}

        @action
        async def forward(request):
            return {"redirect": "/waits?step=forwarded"}

        @action
        async def plain(request):
            return {}

        @action
        async def count(request):
            for number in range(3):
                yield number

        @action
        async def fail(request):
            raise ActionError("no")

        import { useState, useTransition } from "react";
        import { navigate, prefetch, refresh, useAction, useAuth, useLoader } from "fx/client";

        export default function Waits({ data }) {
          const [pending, start] = useTransition();
          const [ended, setEnded] = useState("");
          const forward = useAction("forward");
          const plain = useAction("plain", { optimistic: { step: "soon" } });
          const count = useAction("count", { reduce: (all, one) => all + one, initial: 0 });
          const fail = useAction("fail", { throws: true });
          const cart = useLoader("/cart");
          const auth = useAuth();
          const { login, logout } = auth;
          const awaited = {
            refresh: () => refresh(),
            only: () => refresh({ only: ["step"] }),
            loader: () => cart.refresh(),
            streamed: () => count(),
            fail: () => fail().catch(() => {}),
            everywhere: () => auth.logoutEverywhere(),
            register: () => auth.register({ email: "a@b.c", password: "x" }),
            session: () => auth.refresh(),
            navigate: () => navigate("/waits?step=navigated"),
            redirect: () => forward(),
            optimistic: () => plain(),
            login: () => login({ email: "a@b.c", password: "x" }),
            logout: () => logout(),
            prefetch: () => prefetch("/likes"),
            both: async () => {
              await refresh();
              await navigate("/waits?step=both");
            },
          };
          return (
            <>
              <h1>Waits {data.step}</h1>
              {Object.entries(awaited).map(([name, call]) => (
                <button
                  key={name}
                  id={name}
                  onClick={() =>
                    start(async () => {
                      await call();
                      start(() => setEnded(name));
                    })
                  }
                >
                  {name}
                </button>
              ))}
              <p id="ended">{pending ? "pending" : ended}</p>
              <p id="counted">{count.data}</p>
            </>
          );
        }
    """,
    "pages/cart.fxl": """
        from fx.cache import revalidate, tags
        from fx.runtime import defer, redirect

        CART = ["Middlemarch"]
        LOADED = []

        async def total():
            LOADED.append("total")
            return 7 * len(CART)

        @server
        async def load(request):
            if request.query_params.get("who") == "nobody":
                raise redirect("/likes")
            LOADED.append("cart")
            tags("cart")
            return {"count": len(CART), "loaded": list(LOADED), "total": defer(total)}

        @action
        async def put(request):
            CART.append((await request.json())["title"])
            revalidate(tag="cart")
            return {}

        import { Await, refresh } from "fx/client";

        export default function Cart({ data }) {
          return (
            <>
              <h1>Cart</h1>
              <p id="count">{data.count}</p>
              <p id="loaded">{data.loaded.join()}</p>
              <Await value={data.total}>{(total) => <p id="total">{total}</p>}</Await>
              <button id="only" onClick={() => refresh({ only: ["loaded"] })}>only</button>
            </>
          );
        }
    """,
    "pages/shop.fxl": """
        import { useState } from "react";
        import { Await, refresh, useAction, useLoader } from "fx/client";

        function Badge({ path, name }) {
          const { data, error, pending } = useLoader(path);
          return (
            <p id={name}>
              {error ? `${error.type} ${error.data.url}` : String(data?.count)} {String(pending)}
              {data && <Await value={data.total}>{(total) => <b> {total}</b>}</Await>}
            </p>
          );
        }

        export default function Shop() {
          const put = useAction("put", { page: "/cart" });
          const [path, setPath] = useState("/cart");
          return (
            <>
              <h1>Shop</h1>
              <Badge path={path} name="one" />
              <Badge path="/cart" name="two" />
              <button id="put" onClick={() => put({ title: "Emma" })}>put</button>
              <button id="refresh" onClick={() => refresh()}>refresh</button>
              <button id="nobody" onClick={() => setPath("/cart?who=nobody")}>nobody</button>
              <button id="none" onClick={() => setPath(null)}>none</button>
            </>
          );
        }
    """,
    "pages/books/error.fxl": """
        export default function Failed({ error }) {
          return <p id="failed">{error.statusCode} {error.message} {error.data.again}</p>;
        }
    """,
    "pages/books/needed.fxl": """
        import trio
        from fx.runtime import defer

        async def find():
            await trio.sleep(0.1)
            raise LoaderError("Out of print.", 410, data={"again": "never"})

        @server
        async def load(request):
            return {"book": defer(find)}

        import { use } from "react";

        export default function Needed({ data }) {
          return <h1>{use(data.book).title}</h1>;
        }
    """,
    "pages/books/[id].fxl": """
        import trio
        from fx.runtime import defer

        GATES = {}
        CANCELLED = []

        def gate(id):
            return GATES.setdefault(id, trio.Event())

        async def find_reviews(id, count):
            try:
                await gate(id).wait()
            except trio.Cancelled:
                CANCELLED.append(id)
                raise
            GATES.pop(id)
            if id == "missing":
                raise LoaderError("No reviews today.", 503, data={"again": "tomorrow"})
            return [f"Review {n} </script><!--<script> \u2028 &amp;" for n in range(count)]

        async def find_price():
            return 3

        @server
        async def load(request):
            id = request.path_params["id"]
            count = int(request.query_params.get("count", 2))
            return {"id": id, "reviews": defer(find_reviews, id, count), "price": defer(find_price)}

        @action
        async def publish(request):
            gate((await request.json())["id"]).set()
            return {}

        @action
        async def cancelled(request):
            return {"ids": CANCELLED}

        import { useState } from "react";
        import { Await, Link, refresh, useAction } from "fx/client";

        export default function Book({ data }) {
          const publish = useAction("publish");
          const cancelled = useAction("cancelled");
          const [clicks, setClicks] = useState(0);
          return (
            <>
              <h1>Book {data.id}</h1>
              <button id="clicks" onClick={() => setClicks(clicks + 1)}>{clicks}</button>
              <button id="publish" onClick={() => publish({ id: data.id })}>publish</button>
              <button id="refresh" onClick={() => refresh()}>refresh</button>
              <button id="cancelled" onClick={() => cancelled()}>
                {cancelled.data?.ids.join() ?? "?"}
              </button>
              <Await value={data.price}>{(price) => <p id="price">{price}</p>}</Await>
              <Await value={data.reviews} fallback={<p id="wait">Reviews …</p>}>
                {(reviews) => (
                  <ul id="reviews">{reviews.map((one) => <li key={one}>{one}</li>)}</ul>
                )}
              </Await>
              <Link href="/books/second">second</Link>
              <Link href="/books/third">third</Link>
              <Link href="/books/missing">missing</Link>
            </>
          );
        }
    """,
}
