"""A small application as Pyxle's users write it: all that `fx from-pyxle` converts is in it."""

from __future__ import annotations

FILES = {
    "pyxle.config.json": """
        {
          "name": "board",
          "debug": true,
          "styling": {"globalStyles": ["styles/base.css"]},
          "cache": {"/about": 1800},
          "rateLimit": {"requests": 600, "windowSeconds": 60},
          "observability": {"requestId": true, "accessLog": true, "logFormat": "json"},
          "llms": true,
          "plugins": [{"name": "pyxle-db", "settings": {"path": "data/board.db"}}, "pyxle-mail"]
        }
    """,
    "package.json": """
        {
          "name": "board",
          "type": "module",
          "scripts": {"dev": "pyxle dev", "build": "pyxle build", "test": "node --test"},
          "devDependencies": {"@vitejs/plugin-react": "^5.0.0", "vite": "^7.1.0"}
        }
    """,
    "vite.config.js": "export default { root: '.pyxle-build/client' };\n",
    "tailwind.config.cjs": """
        module.exports = { content: ["./pages/**/*.{pyxl,js,jsx}"] };
    """,
    "requirements.txt": "pyxle-framework[pydantic]==0.9.4\npyxle-db>=0.3\nhttpx\n",
    ".env": "PYXLE_PUBLIC_TITLE=Board\nexport PYXLE_SECRET_KEY=0123456789abcdefgh\nPYXLE_X=1\n",
    ".gitignore": ".pyxle-build/\nnode_modules/\n",
    "migrations/001-first-notes.sql": "create table notes (id integer primary key, text text);\n",
    "store.py": """
        import asyncio
        import time

        LOCK = asyncio.Lock()


        def slow(text):
            time.sleep(0)
            return text.upper()


        async def shout(text):
            async with LOCK:
                await asyncio.sleep(0)
                return await asyncio.to_thread(slow, text)
    """,
    "mails.py": """
        async def welcome(address):
            from pyxle_mail import get_mail_service

            await get_mail_service().send(to=address)
    """,
    "pages/layout.pyxl": """
        import React from 'react';

        export default function Layout({ children }) {
          return <main>{children}</main>;
        }
    """,
    "pages/index.pyxl": """
        from pyxle.runtime import ActionError, server, action
        from pyxle.realtime import ChannelHandle, channel

        from store import shout

        TITLE = "Grüße 🎈"


        @server
        async def load(request):
            return {"data": {"title": await shout("hello"), "emoji": TITLE}, "revalidate": 60}


        @action
        async def rename(request):
            body = await request.json()
            if not body.get("name"):
                raise ActionError("A name is missing.")
            request.state.cookies.set("name", body["name"], httponly=True)
            return {"name": body["name"]}


        async def websocket(ws):
            await ws.accept()
            async with channel(ws, "board") as handle:
                joined: ChannelHandle = handle
                await joined.publish({"joined": True})


        import React, { useState } from 'react';
        import { Form, Head, Link, useAction } from 'pyxle/client';
        import Badge from './components/Badge.jsx';

        export default function Board({ data }) {
          const rename = useAction('rename', { pagePath: '/' });
          const [count, setCount] = useState(0);
          return (
            <>
              <Head><title>{import.meta.env.PYXLE_PUBLIC_TITLE}</title></Head>
              <h1>{data.title}: {data.emoji} 🎈</h1>
              <Badge>new</Badge>
              <button onClick={() => setCount(count + 1)}>Clicked {count}</button>
              <button onClick={() => rename({ name: 'x' })}>Rename</button>
              <Form action="rename" pagePath="/" resetOnSuccess><input name="name" /></Form>
              <Link href="/about" passHref>About</Link>
            </>
          );
        }
    """,
    "pages/components/Badge.jsx": """
        import React from 'react';
        import { ClientOnly } from 'pyxle/client';

        export default function Badge({ children }) {
          return <b>{children}<ClientOnly>!</ClientOnly></b>;
        }
    """,
    "pages/about.pyxl": """
        HEAD = "<title>About</title>"

        import React from 'react';

        export default function About() {
          return <p>from pyxle.runtime import server</p>;
        }
    """,
    "pages/api/pulse.py": """
        import pyxle.tasks as tasks
        from pyxle import __version__
        from starlette.responses import JSONResponse


        async def endpoint(request):
            tasks.enqueue(print, "pulse")
            return JSONResponse({"ok": True, "version": __version__})
    """,
    "public/favicon.ico": "",
    "public/robots.txt": "User-agent: *\n",
}
"""Path to text, dedented when it is written."""
