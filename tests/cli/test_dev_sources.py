"""No URL of `fx dev` gives the text of anything but the UI that pages consist of."""

from __future__ import annotations

import re
from base64 import b64decode
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import trio

from tests.cli.test_dev_hosts import ENTRY, developing
from tests.fonts.small_font import small_font
from tests.trees import write_tree

SECRET = "tr0ub4dor"

ODD = "pages/(group)/@you+me,a=b & c;d.fxl"

PROJECT = {
    "pages/index.fxl": "from store import rows\n\n\n@server\nasync def load(request):\n"
    f"    return {{'rows': rows()}}  # {SECRET}\n\n\n"
    "import { Card } from '../card';\nimport './look.css';\nimport logo from './logo.svg';\n\n"
    "export default ({ data }) => <p><Card /><img src={logo} alt='' />{data.rows}</p>;\n",
    "pages/look.css": '@import "./inner.css";\np { color: red; background: url(./back.png) }\n',
    "pages/back.png": "png",
    "pages/new.webp": "webp",
    "pages/alone.png": SECRET,
    "data/passport.png": SECRET,
    "data/invoice.pdf": SECRET,
    "pages/inner.css": "b { color: green }\n",
    "pages/slow/index.fxl": "@server\nasync def load(request):\n"
    "    return {'said': 'streamed'}\n\n\n"
    "import '../look.css';\n\nexport default ({ data }) => <p>{data.said}</p>;\n",
    "pages/slow/loading.fxl": "export default () => <p>wait</p>;\n",
    ODD: "export default () => <p>odd</p>;\n",
    "pages/logo.svg": "<svg xmlns='http://www.w3.org/2000/svg' />\n",
    "pages/_note.py": f"# {SECRET}\n",
    "card.jsx": "import './pages/body.woff2?font';\n"
    "export const picture = () => new URL('./pages/new.webp', import.meta.url);\n"
    "export const Card = () => <b>card</b>;\n",
    "unused.jsx": f"// {SECRET}\n",
    "store.py": f"def rows():\n    return 3  # {SECRET}\n",
    "app.py": "from pathlib import Path\n\nfrom fxtrio.app import create_app\n\n"
    f"app = create_app(Path(__file__).parent)  # {SECRET}\n",
    "fx.config.json": f'{{"name": "{SECRET}"}}',
    "package.json": f'{{"name": "{SECRET}"}}',
    ".env": f"FX_TOKEN={SECRET}\n",
    ".env.local": f"FX_TOKEN={SECRET}\n",
    "data/site.json": f'"{SECRET}"',
    "notes.sqlite3": SECRET,
    "README.md": SECRET,
    ".git/config": SECRET,
    "tsconfig.json": f'{{"secret": "{SECRET}"}}',
    "tailwind.config.js": f"export default {{}}; // {SECRET}\n",
    "notes.txt": SECRET,
    # As Tailwind does: the stylesheet depends on every file of the project.
    "postcss.config.mjs": f"""// {SECRET}
import path from 'node:path';

const here = import.meta.dirname;
const plugin = () => ({{
  postcssPlugin: 'scanner',
  Once(root, {{ result }}) {{
    const told = {{ plugin: 'scanner', parent: result.opts.from }};
    result.messages.push({{ type: 'dir-dependency', dir: here, glob: '**/*', ...told }});
    for (const name of ['.env', '.git/config', 'fx.config.json', 'store.py', 'unused.jsx']) {{
      result.messages.push({{ type: 'dependency', file: path.join(here, name), ...told }});
    }}
  }},
}});
plugin.postcss = true;
export default {{ plugins: [plugin()] }};
""",
}

OUTSIDE = "outside.jsx"


def forbidden_paths(root: Path) -> list[str]:
    """Return paths, and queries, below `/_fx/`."""
    page, store = f"{root}/pages/index.fxl", f"{root}/store.py"
    return [
        "pages/index.fxl",
        "pages/index.fxl?raw",
        "pages/index.fxl?url",
        "pages/index.fxl?inline",
        "pages/index.fxl?import",
        "pages/index.fxl?import&raw",
        "pages/index.fxl?t=1&raw",
        "pages/index.fxl?raw??",
        "pages/index.fxl.tsx?raw",
        "pages/index.fxl.tsx?url&inline",
        "pages/index.fxl.tsx.map",
        "pages/index%2efxl",
        "pages/_note.py",
        "store.py",
        "store.py?raw",
        "store.py?import&url",
        "store.py?worker_file&type=module",
        "app.py?inline",
        f"@fs{page}",
        f"@fs{page}?raw",
        f"@fs{store}",
        f"@fs{store}?import&raw",
        f"@fs/{store}?raw",
        f"@fs{root}/../{OUTSIDE}",
        f"@fs{root.parent}/{OUTSIDE}",
        f"@fs{root.parent}/{OUTSIDE}?raw",
        f"@fs{root}/%2e%2e/{OUTSIDE}",
        "@fs/etc/passwd",
        "@fs/etc/passwd?raw",
        "@fs/etc/passwd?import&inline",
        f"@id{page}",
        f"@id/{page}?raw",
        f"@id/__x00__{store}",
        f"@id/__x00__{quote(store, safe='')}?raw",
        "@id/store.py",
        "../store.py",
        "%2e%2e/store.py",
        "..%2fstore.py?raw",
        "./store.py",
        "pages/..%2fstore.py",
        "pages//../store.py",
        "fx.config.json",
        "fx.config.json?import",
        "fx.config.json?raw",
        "package.json?import",
        ".env",
        ".env?raw",
        ".env.local",
        ".env?import&raw",
        "data/site.json?import",
        "notes.sqlite3",
        "README.md?raw",
        ".git/config",
        ".fx/dev/server/pages/index.fxl.py",
        ".fx/dev/ui/pages/index.fxl.tsx",
        ".fx/dev/manifest.json",
        "unused.jsx",
        "unused.jsx?import",
        "unused.jsx?raw",
        "unused.jsx?worker_file&type=module",
        "card.jsx?raw",
        "pages/alone.png",
        "pages/alone.png?no-inline",
        "data/passport.png",
        "data/invoice.pdf",
        "data/invoice.pdf?import",
        f"@fs{root}/data/passport.png",
        f"@fs{root}/data/passport.png?t=1",
        "__open-in-editor?file=store.py",
        "__vite_ping",
        "@vite/env?raw",
        "@vite/client?raw",
        "pages/index.fxl?worker",
        "pages/index.fxl?sharedworker&inline",
        "pages/index.fxl.tsx?worker&inline",
        "pages/index.fxl.tsx?sourcemap",
        "pages/index.fxl.tsx?import&raw",
        "pages/index.fxl.py",
        "store.py?worker",
        "store.py?init",
        "store.py.map",
        f"@fs{root}/.env",
        f"@fs{root}/.fx/secret-key",
        f"@fs{root}/postcss.config.mjs",
        f"@id/__x00__{store}?inline",
        f"@id/{page}.tsx?raw",
        "postcss.config.mjs",
        "postcss.config.mjs?raw",
        "tailwind.config.js",
        "tailwind.config.js?import",
        "tsconfig.json",
        "tsconfig.json?import",
        "notes.txt",
        "notes.txt?raw",
        "data/site.json",
        "data/site.json?raw",
        "README.md",
        "package.json",
        "package.json?raw",
        ".fx/secret-key",
        ".fx/types/client.d.ts",
        ".fx/dev/vite/deps/_metadata.json",
        "card.jsx?sourcemap",
        "pages/look.css?raw",
        "%00store.py",
        "store.py%00.jsx",
        "store.py%23.jsx",
    ]


ALLOWED = [
    ENTRY.removeprefix("/_fx/"),
    "@vite/client",
    "pages/index.fxl.tsx",
    "card.jsx",
    "pages/look.css",
    "pages/logo.svg",
    "pages/back.png",
    "pages/new.webp",
    "pages/body.woff2?import&font",
    "@id/__x00__virtual:fx-font{root}/pages/body.woff2.css",
    "pages/body.woff2?no-inline",
    f"{quote(ODD, safe='/()@+,=&;')}.tsx",
]


def with_maps(text: str) -> str:
    """Return the text of a module, and of the source map in it."""
    found = re.findall(r"sourceMappingURL=data:application/json;base64,([\w+/=]+)", text)
    return "\n".join([text, *(b64decode(one).decode() for one in found)])


@pytest.mark.node
async def test_only_modules_that_pages_import_are_served(tmp_path: Path) -> None:
    root = (tmp_path / "app").resolve()
    write_tree(root, PROJECT)
    (root / "pages/body.woff2").write_bytes(small_font("Body"))
    (root.parent / OUTSIDE).write_text(f"// {SECRET}\n")
    (root / "pages/link.svg").symlink_to(root / "store.py")
    with trio.fail_after(120):
        async with developing(root) as port:
            async with httpx.AsyncClient(timeout=60) as client:
                document = await client.get(f"http://localhost:{port}/")
                assert document.status_code == 200
                # What a stylesheet imports is in its own text, which updates replace.
                assert (document.text.count("<style "), document.text.count("green")) == (1, 1)
                named = re.findall(r'rel="modulepreload" href="([^"]+)"', document.text)
                assert {"/_fx/card.jsx", "/_fx/pages/look.css"} <= {*named}
                for url in named:  # though Node may still make what the first document names
                    answer = await client.get(f"http://localhost:{port}{url}")
                    assert answer.status_code == 200, url
                document = await client.get(f"http://localhost:{port}/slow")
                assert document.status_code == 200
                assert "<p>streamed</p>" in document.text
                assert "green" in document.text.partition("<body")[0]  # with its styles
                document = await client.get(f"http://localhost:{port}/@you+me,a=b%20&%20c;d")
                assert f'href="/_fx/{ALLOWED[-1]}"' in unescape(document.text)
                for path in (one.replace("{root}", str(root)) for one in ALLOWED):
                    answer = await client.get(f"http://localhost:{port}/_fx/{path}")
                    assert answer.status_code == 200, path
                    assert SECRET not in with_maps(answer.text), path
            for path in [*forbidden_paths(root), "pages/link.svg"]:
                # Over a socket of its own: a client would tidy the paths up.
                answered = await _get(port, f"/_fx/{path}")
                assert answered.startswith(b"HTTP/1.1 4"), (path, answered[:200])
                assert SECRET.encode() not in answered, path
                assert b"root:" not in answered, path


async def _get(port: int, target: str) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        head = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        await stream.send_all(head.encode())
        answer = b""
        while part := await stream.receive_some():
            answer += part
        return answer
