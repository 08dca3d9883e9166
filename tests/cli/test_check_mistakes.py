"""What people get wrong at first: `fx check` gives the place, the cause and the remedy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.cli.check import check
from fxtrio.cli.init import starter
from fxtrio.compile.file_checks import check_page
from fxtrio.compile.project import check_project
from fxtrio.compile.source import read_text
from fxtrio.config import load_config
from fxtrio.tools.project_checks.project_files import beside_problems
from tests.trees import write_tree

UI = "\nexport default function Page({ data }) { return <p>{data.x}</p>; }\n"
REPOSITORY = Path(__file__).parents[2]


def page_of(ui: str, imports: str) -> str:
    lines = f'import {{ {imports} }} from "fx/client";\n' if imports else ""
    return f"{lines}export default function Page() {{\n  {ui}\n}}\n"


PYTHON = {
    "a loader without its mark": (
        f"async def load(request):\n    return {{'x': 1}}\n{UI}",
        "1:11: 'load' is not marked, so the page gets no data. Write '@server' above it.",
    ),
    "an action that is a class": (
        f"@action\nclass Save:\n    pass\n{UI}",
        "2:7: @action 'Save' is a class. Write 'async def Save(request)'.",
    ),
    "a loader that is a class": (
        f"@server\nclass Load:\n    pass\n{UI}",
        "2:7: @server 'Load' is a class. Write 'async def Load(request)'.",
    ),
    "a websocket that is a class": (
        f"class websocket:\n    pass\n{UI}",
        "1:7: 'websocket' is a class. Write 'async def websocket(ws)'.",
    ),
    "a Markdown hook that is a class": (
        f"class to_markdown:\n    pass\n{UI}",
        "1:7: 'to_markdown' is a class. Write 'def to_markdown(ctx)'.",
    ),
    "a value that is a class": (
        f"class CACHE:\n    revalidate = 60\n{UI}",
        "1:7: CACHE is a class. Give CACHE a literal value.",
    ),
    "names of FastAPI": (
        f"from fastapi import Depends, HTTPException\n\n\n@server\nasync def load(request):\n"
        f"    return {{'x': str(Depends), 'y': str(HTTPException)}}\n{UI}",
        "1:21: FastAPI's 'Depends' does nothing here. "
        "Call the function, or set request.state in a route hook.",
    ),
    "a model without its import": (
        f"class Body(BaseModel):\n    x: int\n{UI}",
        "1:12: undefined name 'BaseModel'. Write 'from pydantic import BaseModel'.",
    ),
    "an import from Pyxle": (
        f"from pyxle.runtime import server\n{UI}",
        "1:27: 'pyxle.runtime' is not a module of this framework. Write 'from fx.runtime import "
        "server'.",
    ),
    "a name of Pyxle that has another name": (
        f"from pyxle.realtime import InProcessBroker\n{UI}",
        "1:28: 'pyxle.realtime' is not a module of this framework. Write 'from fx.realtime import "
        "MemoryBroker'.",
    ),
    "a module of Pyxle": (
        f"import pyxle.cache\n{UI}",
        "1:8: 'pyxle.cache' is not a module of this framework. Write 'from fx.cache import "
        "revalidate'.",
    ),
    "an undefined name of Pyxle": (
        f"@server\nasync def load(request):\n    return {{'x': get_request_id()}}\n{UI}",
        "3:18: undefined name 'get_request_id'. Write 'request.state.request_id'.",
    ),
}


@pytest.mark.parametrize("case", PYTHON)
def test_server_halves(case: str) -> None:
    text, message = PYTHON[case]
    problems = check_page(read_text(text, "pages/index.fxl"))[1]
    assert [str(problem) for problem in problems] == [f"pages/index.fxl:{message}"]


@pytest.mark.parametrize(
    "python",
    [
        "async def load(request):\n    return {}\n\n@action\nasync def add(request):\n"
        "    return await load(request)\n",
        "@server\nasync def load(request):\n    return {}\n",
        "from store import load\n",
        "async def _load(request):\n    return {}\n",
        "import websocket\n",
        "class Load:\n    pass\n",
        "@cached\nasync def load(key):\n    return {}\n\ncached = 1\n",
    ],
)
def test_what_only_looks_like_a_mistake(python: str) -> None:
    text = f"{python}{UI}"
    problems = check_page(read_text(text, "pages/index.fxl"))[1]
    assert [str(one) for one in problems if "undefined" not in one.message] == []


def test_a_loader_is_not_missed_where_nothing_reads_data() -> None:
    text = "async def load(request):\n    return {}\n\nexport default () => <p>x</p>;\n"
    assert check_page(read_text(text, "pages/index.fxl"))[1] == []


UI_CASES = {
    "form-page": (
        page_of('return <Form action="add" page="/" pagePath="/">x</Form>;', "Form"),
        "3:38: <Form> has no property 'pagePath'. Write 'page'.",
    ),
    "form-reset": (
        page_of('return <Form action="a" page="/" resetOnSuccess />;', "Form"),
        "3:36: <Form> has no property 'resetOnSuccess'. Write 'reset'.",
    ),
    "form-similar": (
        page_of('return <Form action="a" page="/" onSucces={alert} />;', "Form"),
        "3:36: <Form> has no property 'onSucces'. Did you mean 'onSuccess'?",
    ),
    "form-class": (
        page_of('return <Form action="a" page="/" class="x" />;', "Form"),
        "3:36: <Form> has no property 'class'. Write 'className'.",
    ),
    "link-prop": (
        page_of('return <Link href="/" prefech>x</Link>;', "Link"),
        "3:25: <Link> has no property 'prefech'. Did you mean 'prefetch'?",
    ),
    "link-shallow": (
        page_of('return <Link href="/" shallow>x</Link>;', "Link"),
        "3:25: <Link> has no property 'shallow'. Leave it out.",
    ),
    "link-unlike": (
        page_of('return <Link href="/" activeWhenExactly>x</Link>;', "Link"),
        "3:25: <Link> has no property 'activeWhenExactly'. There is href, prefetch, replace, "
        "scroll.",
    ),
    "script": (
        page_of('return <Script src="/x.js" onLoad={alert} />;', "Script"),
        "3:30: <Script> has no property 'onLoad'. Write 'onReady'.",
    ),
    "script-defer": (
        page_of('return <Script src="/x.js" defer />;', "Script"),
        "3:30: <Script> has no property 'defer'. Write attributes={{ … }}.",
    ),
    "image": (
        page_of('return <Image src="/x.png" alt="" objectFit="cover" />;', "Image"),
        "3:37: <Image> has no property 'objectFit'. Write style={{ objectFit: … }}.",
    ),
    "action-option": (
        page_of('useAction("a", { page: "/", pagePath: "/" }); return null;', "useAction"),
        "3:31: useAction() has no option 'pagePath'. Write 'page'.",
    ),
    "socket-option": (
        page_of('useWebSocket("/x", { onMesage() {} }); return null;', "useWebSocket"),
        "3:24: useWebSocket() has no option 'onMesage'. Did you mean 'onMessage'?",
    ),
    "auth-part": (
        page_of("const { isAuthenticted } = useAuth(); return isAuthenticted;", "useAuth"),
        "3:11: useAuth() returns no 'isAuthenticted'. Did you mean 'isAuthenticated'?",
    ),
    "navigate-option": (
        page_of('navigate("/", { shallow: true }); return null;', "navigate"),
        "3:19: navigate() has no option 'shallow'. Leave it out.",
    ),
    "slots": (
        page_of("return useSlots();", "useSlots"),
        "1:10: 'fx/client' has no export 'useSlots'. Write <Slot name=\"…\"> in the layout.",
    ),
    "a URL that is imported": (
        f'import logo from "/assets/logo.svg";\n{page_of("return <img src={logo} />;", "")}',
        "1:18: '/assets/logo.svg' is a URL, not a module. Write it where it is used, such as "
        "src=\"/assets/logo.svg\"; '@/…' imports a file of the project.",
    ),
    "a module of Node": (
        'import fs from "node:fs";\nexport default () => <p>{fs.readFileSync("x")}</p>;\n',
        "1:16: 'node:fs' is a module of Node, which browsers do not have. Read it in an @server "
        "function of the server half, and return the data that the page shows.",
    ),
    "a module of Node without its prefix": (
        f'export {{ join }} from "path";\n{page_of("return null;", "")}',
        "1:22: 'path' is a module of Node, which browsers do not have. Do it in Python, in an "
        "@server function or an @action, and return the data that the page shows.",
    ),
    "a module of Node that a package stands for": (
        f'import {{ EventEmitter as E }} from "events";\n{page_of("return E;", "")}',
        "1:35: 'events' is a module of Node, which browsers do not have. Run 'npm install "
        "events', and write 'events'.",
    ),
    "mdx": (
        'import Doc from "../lib/doc.mdx";\nexport default () => <Doc />;\n',
        "1:17: '../lib/doc.mdx' is a document, not code. Run 'npm install --save-dev "
        "@mdx-js/rollup', which makes components of .mdx files.",
    ),
    "markdown": (
        'import text from "../lib/doc.md";\nexport default () => <p>{text}</p>;\n',
        "1:18: '../lib/doc.md' is a document, not code. Import its text with "
        "'../lib/doc.md?raw', or make it .mdx.",
    ),
    "next-link": (
        'import Link from "next/link";\nexport default () => <Link href="/">x</Link>;\n',
        "1:18: 'next/link' works only in Next.js. Write import { Link } from 'fx/client'.",
    ),
    "pyxle-client": (
        'import { Link } from "pyxle/client";\nexport default () => <Link href="/">x</Link>;\n',
        "1:22: 'pyxle/client' cannot be found. Write 'fx/client'.",
    ),
    "tilde": (
        'import { x } from "~/lib/x";\nexport default () => x;\n',
        "1:19: '~/lib/x' cannot be found. Write '@/lib/x': '@' is the project folder.",
    ),
    "bare": (
        'import { x } from "lib/x";\nexport default () => x;\n',
        "1:19: 'lib/x' cannot be found. Write '@/lib/x'.",
    ),
    "a name that React does not export": (
        'import { useStat } from "react";\nexport default () => useStat(1);\n',
        "1:10: 'react' has no export 'useStat'. Did you mean 'useState'?",
    ),
    "a name that a package does not export": (
        'import { two } from "numbers";\nexport default () => two;\n',
        "1:10: 'numbers' has no export 'two'. It has one.",
    ),
    "a name that a module does not export": (
        'export { x as default, unlike } from "../lib/x";\n',
        "1:24: '../lib/x' has no export 'unlike'. It has x.",
    ),
    "a default that a module does not export": (
        'import x from "../lib/x";\nexport default () => x;\n',
        "1:8: '../lib/x' has no default export. Write import { x } in braces.",
    ),
    "pascal": (
        'import { x } from "nosuch";\nexport default () => x;\n',
        "1:19: 'nosuch' cannot be found. Run 'npm install nosuch'.",
    ),
}

FINE = """
import { ClientOnly, Form, Head, Image, Link, Script, Slot, navigate, refresh } from "fx/client";
import { useAction, useAuth, useNavigation, useParams, useWebSocket } from "fx/client";

export default function Page({ data, ...rest }) {
  const { id, ...others } = useParams();
  const { status, user, isAuthenticated, loading, error, signup, ...auth } = useAuth();
  const { lastMessage, error: lost, send } = useWebSocket("/x", { enabled: false, onMessage() {} });
  const { pending, data: saved, fields } = useAction("add", { page: "/other" });
  const { to, state } = useNavigation();
  const options = { anything: 1 };
  const go = () => navigate("/", { replace: true, scroll: false, ...options });
  return (
    <main onClick={go}>
      <Head key="h"><title>x</title></Head>
      <Form method="get" action="/find" role="search" replace scroll={false} key="f">x</Form>
      <Form action="add" page="/other" aria-label="x" data-x="1" onReset={go} onChange={go}
        onSubmitCapture={go} autoComplete="off" noValidate style={{}} ref={null} {...rest}>x</Form>
      <Link href="/" prefetch={true} target="_blank" rel="me" className="x" onMouseEnter={go}
        hrefLang="en" download title="x" tabIndex={0} dangerouslySetInnerHTML={{ __html: "" }} />
      <Image src="/x" alt="" fill priority loading="eager" srcSet="" sizes="" onLoad={go} />
      <Script id="s" strategy="lazyOnload" attributes={{ type: "module" }} onReady={go}>
        {"1"}
      </Script>
      <ClientOnly fallback={null}>
        {() => <i>{id}{status}{user}{loading}{error}{lost}</i>}
      </ClientOnly>
      <Slot name="side" anything={1}>x</Slot>
      <p title={[others, auth, isAuthenticated, signup, lastMessage, send, pending, saved, fields,
        to, state, data, refresh].join()} />
    </main>
  );
}
"""

FINE_IMPORTS = {
    "pages/imports.fxl": 'import url from "url";\nimport text from "../lib/doc.md?raw";\n'
    'import type { Stats } from "node:fs";\nconst late = () => import("node:crypto");\n'
    "export default ({ data }: { data: Stats }) => <p title={data.size}>{[url, text, late]}</p>;\n",
    "lib/doc.md": "# Title\n",
    "lib/doc.mdx": "# Title\n",
    "pages/named.fxl": 'import { FC, use, useState as state } from "react";\n'
    'import { createRoot } from "react-dom/client";\nimport * as all from "numbers";\n'
    'import { one } from "numbers";\n'
    "const Page: FC = () => <p>{[use, state, createRoot, all.two, one]}</p>;\n"
    "export default Page;\n",
    "node_modules/url/package.json": '{"name": "url", "version": "1.0.0"}',
    "node_modules/numbers/package.json": '{"name": "numbers", "module": "./all.js"}',
    "node_modules/numbers/all.js": 'export * from "./one.js";\n',
    "node_modules/numbers/one.js": "export const one = 1;\n",
}


@pytest.fixture(scope="module")
def ui_problems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What is said about each page of one project, by its name."""
    root = tmp_path_factory.mktemp("ui")
    files = {f"pages/{name}.fxl": text for name, (text, _) in UI_CASES.items()}
    fine = {"pages/fine.fxl": FINE, "lib/x.js": "export const x = 1;\n", **FINE_IMPORTS}
    found = trio.run(problems_of, root, files | fine)
    by_page: dict[str, list[str]] = {}
    for problem in found:
        path, _, message = problem.partition(":")
        by_page.setdefault(Path(path).stem, []).append(message)
    return by_page


@pytest.mark.node
@pytest.mark.parametrize("name", UI_CASES)
def test_client_halves(name: str, ui_problems: dict[str, list[str]]) -> None:
    assert ui_problems.get(name) == [UI_CASES[name][1]]


@pytest.mark.node
def test_what_fx_client_offers_is_no_mistake(ui_problems: dict[str, list[str]]) -> None:
    assert ui_problems.get("fine") is None


@pytest.mark.node
def test_what_browsers_can_import_is_no_mistake(ui_problems: dict[str, list[str]]) -> None:
    assert ui_problems.get("imports") is None
    assert ui_problems.get("named") is None


async def problems_of(root: Path, files: dict[str, str]) -> list[str]:
    page = {"pages/index.fxl": "export default () => <p>x</p>;\n"}
    write_tree(root, page | files)
    with trio.fail_after(120):
        found = await check(root, app="", imports=False, report=lambda line: None)
    return [str(problem).replace(f"{root}/", "") for problem in found.problems]


OLD_REACT = '{\n  "dependencies": {\n    "react": "^18.2.0"\n  }\n}\n'

AROUND = {
    "an old React": (
        {"package.json": OLD_REACT, "node_modules/x/package.json": "{}"},
        "package.json:3:5: it requires react '^18.2.0', but pages need 19. Run 'npm install "
        "react@19 react-dom@19', or remove both: fxtrio includes its own.",
    ),
    "packages that are not installed": (
        {"package.json": '{"dependencies": {"chart.js": "4"}}'},
        "package.json:1:2: its packages are not installed: there is no folder node_modules. "
        "Run 'npm install'.",
    ),
    "a configuration of Vite": (
        {"vite.config.ts": "export default {}"},
        "vite.config.ts:1:1: nothing reads it: fxtrio sets up the bundler itself. Remove it: "
        "plug-ins of PostCSS, as for Tailwind, go into postcss.config.mjs, and '@/' is the "
        "project folder.",
    ),
    "a package that is listed and not installed": (
        {
            "package.json": '{"dependencies": {"chart.js": "4"}}',
            "node_modules/x/package.json": "{}",
            "pages/about.fxl": 'import "chart.js";\nexport default () => <p>x</p>;\n',
        },
        "pages/about.fxl:1:8: 'chart.js' cannot be found. Run 'npm install'.",
    ),
    "a package.json that is none": (
        {"package.json": '{\n  "a": 1,\n}'},
        "package.json:3:1: it cannot be read as JSON. "
        "Look for a comma, colon or quote that is missing here or before it.",
    ),
    "a tsconfig.json that is none": (
        {"tsconfig.json": '{\n  // strict\n  "compilerOptions": { "strict" true, },\n}'},
        "tsconfig.json:3:33: it cannot be read as JSON. "
        "Look for a comma, colon or quote that is missing here or before it.",
    ),
    "settings of Pyxle": (
        {"pyxle.config.json": "{}"},
        "pyxle.config.json:1:1: nothing reads it. Rename it to 'fx.config.json'.",
    ),
    "JSX in a file that bundlers read as plain JavaScript": (
        {
            "pages/about.fxl": 'import { A } from "@/a";\nexport default () => <A />;\n',
            "a.js": "export const A = () => <b>a</b>;\n",
        },
        "a.js:1:24: JSX in a file that ends neither with .jsx nor with .tsx. "
        "Rename the file so that it ends with .jsx.\n"
        "  1 | export const A = () => <b>a</b>;\n    |                        ^",
    ),
    "a page of Pyxle": (
        {"pages/about.pyxl": "x"},
        "pages/about.pyxl:1:1: it is not a page file: these end in '.fxl'. "
        "Rename it to 'about.fxl'.",
    ),
}


@pytest.mark.parametrize(
    ("package", "settings", "message"),
    [
        ("argon2", {"plugins": [{"name": "auth"}]}, "'auth', and argon2-cffi is not installed"),
        ("mcp", {"plugins": [{"name": "mcp"}]}, "'mcp', and mcp is not installed"),
        ("html_to_markdown", {"llms": {"enabled": True}}, "and html-to-markdown is not installed"),
        ("prometheus_client", {"observability": {"metrics": "/m"}}, "and prometheus-client is"),
    ],
)
async def test_an_extra_that_the_settings_need_and_nobody_has_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, settings: Any, message: str
) -> None:
    write_tree(
        tmp_path, {"fx.config.json": json.dumps(settings), "pages/index.fxl": page_of("", "")}
    )
    config = load_config(tmp_path)
    project = check_project(tmp_path, config)
    assert await beside_problems(tmp_path, config, project, connects=False) == []
    monkeypatch.setitem(sys.modules, package, None)

    [found] = await beside_problems(tmp_path, config, project, connects=False)

    assert message in found.message
    assert found.remedy.startswith("Run \"pip install 'fxtrio[")


@pytest.mark.node
@pytest.mark.parametrize("case", AROUND)
async def test_what_lies_around_the_pages(case: str, tmp_path: Path) -> None:
    files, message = AROUND[case]
    assert await problems_of(tmp_path, files) == [message]


@pytest.mark.node
@pytest.mark.parametrize(
    "files",
    [
        {"package.json": '{"devDependencies": {"prettier": "3"}}'},
        {"package.json": '{"dependencies": {}}'},
        {
            "package.json": '{"dependencies": {"react": ">=18", "react-dom": "18 || 19"}}',
            "node_modules/x/package.json": "{}",
        },
        {
            "package.json": '{"devDependencies": {"vitest": "4"}}',
            "vite.config.ts": "export default {}",
        },
        {"components.json": "{}", "vite.config.mjs": "export default {};"},
        {"tsconfig.json": '{ // "x\n "compilerOptions": {"paths": {"@/*": ["./*"]}, /* { */ }, }'},
    ],
)
async def test_what_may_lie_around_the_pages(files: dict[str, str], tmp_path: Path) -> None:
    assert await problems_of(tmp_path, files) == []


@pytest.mark.node
@pytest.mark.parametrize("name", ["assistant", "chat", "guestbook", "notes", "workshop"])
async def test_the_examples_have_no_mistakes(name: str) -> None:
    root = REPOSITORY / "examples" / name
    with trio.fail_after(120):
        found = await check(root, app="", imports=False, report=lambda line: None)
    assert found.problems == ()


@pytest.mark.node
async def test_a_new_project_has_no_mistakes(tmp_path: Path) -> None:
    for path, data in starter("shop").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    assert await problems_of(tmp_path, {}) == []


NEXT = {
    "next.config.ts": "export default {};\n",
    "middleware.ts": 'import { NextResponse } from "next/server";\n',
    "proxy.ts": "export async function proxy() {}\n",
    "app/dash/page.tsx": "export default () => <p>x</p>;\n",
    "pages/old/page.tsx": "export default () => <p>x</p>;\n",
    "pages/query/route.ts": "export async function GET() {}\n",
    "pages/api/hello.ts": "export default () => 1;\n",
}


@pytest.mark.node
async def test_files_of_next_are_named_with_their_counterparts(tmp_path: Path) -> None:
    others = {
        "proxy.js": "export const proxy = 1;\n",  # of some other tool
        "pages/query/route.js": "export const size = 1;\n",
        "pages/index.fxl": "export default function Page() {\n  return <p>x</p>;\n}\n",
    }
    write_tree(tmp_path, {**NEXT, **others})
    with trio.fail_after(120):
        found = await check(tmp_path, app="", imports=False, report=lambda line: None)
    remedies = {
        Path(one.path).relative_to(tmp_path).as_posix(): one.remedy for one in found.problems
    }
    assert remedies.keys() == NEXT.keys()
    assert remedies["app/dash/page.tsx"] == "Move it to 'pages/dash/index.fxl'"
    assert remedies["pages/old/page.tsx"] == "Rename it to 'index.fxl' to make it one"
    assert remedies["pages/query/route.ts"] == "Write a .py file below pages/api"
