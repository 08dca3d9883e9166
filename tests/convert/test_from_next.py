"""`fx from-next` makes a project of Next.js one that builds and serves, and names what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from fxtrio.cli.group import main
from tests.convert.next_app import FILES, SERVER
from tests.convert.support import committed, git, report_of, tree_of
from tests.e2e.support import fx, served, visit

pytestmark = pytest.mark.node


@pytest.mark.browser
def test_what_it_writes_builds_and_serves(browser: Browser, tmp_path: Path) -> None:
    root = committed(tmp_path.resolve() / "acme", FILES)
    before = tree_of(root)
    preview = report_of("from-next", root)
    assert tree_of(root) == before
    assert [one["message"] for one in preview["problems"]] == []
    assert report_of("from-next", root, "--write")["files"] == preview["files"]
    assert json.loads((root / "package.json").read_text("utf-8")) == {
        "name": "acme",
        "scripts": {"dev": "fx dev", "build": "fx build", "start": "fx serve"},
    }
    options = json.loads((root / "tsconfig.json").read_text("utf-8"))
    assert options["include"] == ["**/*.ts"]
    assert options["compilerOptions"]["jsx"] == "react-jsx"
    assert not (root / "next-env.d.ts").exists()
    layout = (root / "pages/layout.fxl").read_text("utf-8")
    assert layout.startswith("HEAD = [\n    ")
    assert "import '../src/app/globals.css';" in layout
    assert [*root.rglob("page.tsx")] == []
    fx("check", cwd=root)
    fx("build", cwd=root)
    with served(root) as server:
        visitor = visit(browser)
        page = visitor.page
        page.goto(f"{server.url}/")
        assert page.title() == 'Acme "Shop"'
        assert page.text_content("h1") == "Acme 12 ct"
        assert page.get_attribute("html", "lang") == "en"
        assert page.get_attribute("body", "class") == "antialiased"
        page.get_by_role("button", name="/ 0").click()
        page.get_by_role("button", name="/ 1").wait_for()
        page.get_by_role("button", name="Instead").click()
        page.get_by_text("Invoices of 1").wait_for()
        assert page.title() == "Invoices | Acme"
        page.goto(f"{server.url}/")
        page.get_by_role("link", name="Invoices").click()
        page.get_by_text("Invoices of all").wait_for()
        page.goto(f"{server.url}/items/7")
        assert page.text_content("p") == "Item 7"
        assert visitor.complaints == []
        page.goto(f"{server.url}/nowhere")
        assert page.text_content("h1") == "Nothing here"


def test_what_runs_on_the_server_is_listed_with_its_place(tmp_path: Path) -> None:
    root = committed(tmp_path.resolve(), {**FILES, **SERVER})
    found = report_of("from-next", root, "--write")["problems"]
    left = {
        f"{Path(one['path']).relative_to(root).as_posix()}:{one['line']}": one["remedy"]
        for one in found
    }
    invoice = "pages/(shop)/invoices/[id]/index.fxl"
    assert left == {
        f"{invoice}:1": "Write import { navigate, usePathname, useSearchParams, useParams } "
        "from 'fx/client'",
        f"{invoice}:2": "Put the font's file into the project, import it with '?font', and "
        "load it with <Font> of 'fx/client'",
        f"{invoice}:7": "Load the data in an @server function of the server half; the component "
        "gets it as 'data'",
        f"{invoice}:9": "Write raise NotFound(…) of fx.runtime in the loader",
        "pages/error.fxl:2": "Call refresh() of 'fx/client'",
        "src/app/query/route.ts:1": "Write 'pages/api/query.py'",
        "src/lib/actions.ts:1": "Write an @action in the server half, and call it with "
        "useAction('name')",
        "src/middleware.ts:1": "Name a hook in 'routeMiddleware' of fx.config.json",
        "next.config.ts:1": "Remove it: settings are in fx.config.json",
    }


def test_another_project_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"dependencies": {"react": "19"}}', "utf-8")
    result = CliRunner().invoke(main, ["from-next", "--root", str(tmp_path)])
    assert result.exit_code == 1
    assert "this is not a project of Next.js" in " ".join(result.stderr.split())


def test_pages_of_the_older_router_stay_where_they_are(tmp_path: Path) -> None:
    page = (
        "import Link from 'next/link';\n"
        "export default function Page() {\n  return <Link href='/'>x</Link>;\n}\n"
    )
    files = {
        "package.json": '{"dependencies": {"next": "14"}}',
        "pages/index.tsx": page,
        "pages/blog/[slug].jsx": page,
        "pages/404.js": page,
        "pages/_app.tsx": page,
        "pages/api/hello.ts": "export default function handler() {}\n",
    }
    root = committed(tmp_path.resolve(), files)
    found = report_of("from-next", root, "--write")
    assert sorted(git(root, "ls-files", "--others").split()) == [
        "fx.config.json",
        "pages/blog/[slug].fxl",
        "pages/index.fxl",
        "pages/not-found.fxl",
    ]
    remedies = {one["remedy"] for one in found["problems"]}
    assert {"Write pages/layout.fxl", "Write 'pages/api/hello.py'"} <= remedies


def test_a_project_as_next_js_makes_it_is_converted_with_its_tailwind(tmp_path: Path) -> None:
    files = {
        ".gitignore": "next-env.d.ts\n",
        "next-env.d.ts": '/// <reference types="next" />\n',
        "package.json": json.dumps(
            {
                "dependencies": {"next": "16"},
                "devDependencies": {"@tailwindcss/turbopack": "^4", "tailwindcss": "^4"},
            }
        ),
        "app/page.tsx": "export default function Home() {\n  return <p>home</p>;\n}\n",
    }
    root = committed(tmp_path.resolve() / "acme", files)

    report_of("from-next", root, "--write")

    assert not (root / "next-env.d.ts").exists()
    package = json.loads((root / "package.json").read_text("utf-8"))
    assert package["devDependencies"] == {"tailwindcss": "^4", "@tailwindcss/postcss": "^4"}
    assert "@tailwindcss/postcss" in (root / "postcss.config.mjs").read_text("utf-8")
