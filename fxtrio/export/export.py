"""`export_site`: an app's build in, a folder of files out.

The pages are those that the app serves: it runs in this process, and each file is its answer to a
request of nobody. Called by `fx export`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from pathlib import Path

import attrs
import trio
from msgspec.structs import replace

from fxtrio.app import assemble, open_pool
from fxtrio.application import Application
from fxtrio.config import Config
from fxtrio.context import entered
from fxtrio.export import site_files
from fxtrio.export.capture import capture
from fxtrio.export.errors import ExportFailed, Finding
from fxtrio.export.folder import (
    Files,
    add_assets,
    add_public,
    page_file,
    require_replaceable,
    write_folder,
)
from fxtrio.export.html import Document, read_document, with_policy
from fxtrio.export.known_paths import known_paths
from fxtrio.export.links import LinkCheck, Page
from fxtrio.export.pages import CapturedPage, Capturing, Progress, Target, wrong_status
from fxtrio.export.place import Place
from fxtrio.export.plan import ExportPlan, Text, plan_export, static_paths
from fxtrio.export.site_files import Moved
from fxtrio.manifest import FOLDERS, ApiRoute, Manifest, load_manifest
from fxtrio.markdown import LlmsPageInfo, first_heading
from fxtrio.markdown.llms import title_of
from fxtrio.markdown.paths import markdown_path
from fxtrio.routes.router import Router
from fxtrio.secret_key import project_key
from fxtrio.serve.pages.html.document import STATE, error_document
from fxtrio.serve.pages.resources import Renderer
from fxtrio.serve.request.client_protocol import PAYLOAD_FILE
from fxtrio.serve.request.response.response import standard_headers

OpenRenderer = Callable[[], AbstractAsyncContextManager[Renderer]]

_NOT_FOUND = "/404.html"


@attrs.frozen
class Exported:
    """What an export has written."""

    folder: Path
    pages: tuple[str, ...]
    """Their paths, decoded and without the base, in order."""

    moved: tuple[Moved, ...]
    files: int
    """All of them (count)."""

    left_out: tuple[Finding, ...]
    """What is no part of it, and why; empty unless that was allowed."""

    dangling: tuple[Finding, ...]
    """Links to such pages."""


async def export_site(
    root: Path,
    config: Config,
    folder: Path,
    place: Place,
    *,
    allow_missing: bool = False,
    jobs: int = 8,
    progress: Progress = lambda done, count: None,
    open_renderer: OpenRenderer | None = None,
) -> Exported:
    """Write the site of the build in ``root`` into ``folder``, which it replaces at the end.

    Both paths are absolute.

    With ``allow_missing`` what cannot be a file is left out. ``jobs`` pages are rendered at a
    time, by Node or what ``open_renderer`` opens. Raises ExportFailed with every reason,
    ExportFolderInvalid, ManifestUnreadable, OSError, and what modules of the project raise.
    """
    require_replaceable(folder, root, config.pages_dir, config.public_dir)
    build = root / FOLDERS["production"]
    manifest = load_manifest(build)
    text = partial(_text_of, root)
    plan = plan_export(manifest, cache(text))
    running = _settings(config, root)
    app = assemble(
        root,
        running,
        build,
        _exported_manifest(manifest, plan),
        open_renderer=open_renderer or partial(open_pool, build, manifest, running),
    )
    app.sends_stored = False  # stored pages know nothing of files, nor of the export's settings
    export = _Export(root, config, manifest, plan, place, app, cache(text), jobs, progress)
    async with app.router.lifespan_context(app):
        with entered(app.state.fx):
            await export.run()
    left_out = (*plan.missing.values(), *export.left_out)
    findings = export.findings if allow_missing else (*left_out, *export.findings)
    if findings:
        raise ExportFailed(sorted(dict.fromkeys(findings)))
    write_folder(export.files, folder)
    return Exported(
        folder,
        tuple(sorted(export.pages)),
        tuple(export.moved),
        len(export.files.contents),
        tuple(sorted(dict.fromkeys(left_out))),
        tuple(sorted(export.dangling)),
    )


def _settings(config: Config, root: Path) -> Config:
    """Return the settings by which the app answers: without jobs, and without nonces."""
    jobs = replace(config.jobs, workers=0)
    keys = config.secret_keys or (project_key(root),)
    return replace(config, csp="off", jobs=jobs, secret_keys=keys)


def _exported_manifest(manifest: Manifest, plan: ExportPlan) -> Manifest:
    """Return the build with the routes that can be files, whose pages know that they are files."""
    views = (replace(view, client={**view.client, "exported": True}) for view in manifest.views)
    return replace(manifest, routes=plan.routes, views=tuple(views))


def _text_of(root: Path, source: str) -> str:
    try:
        return (root / source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # for lines of messages alone
        return ""


def _document(html: bytes) -> Document:
    return read_document(html.decode(errors="replace"))


def _title(path: str, markdown: bytes) -> str:
    return first_heading(markdown.decode()) or title_of(path)


@attrs.define(eq=False)
class _Export:
    """One export, while it runs."""

    root: Path
    config: Config
    manifest: Manifest
    plan: ExportPlan
    place: Place
    app: Application
    text: Text
    jobs: int
    progress: Progress
    files: Files = attrs.field(factory=Files)
    pages: dict[str, CapturedPage] = attrs.field(factory=dict)
    """By path."""

    moved: list[Moved] = attrs.field(factory=list)
    findings: list[Finding] = attrs.field(factory=list)
    left_out: list[Finding] = attrs.field(factory=list)
    """What only the render has shown."""

    lost: dict[str, Finding] = attrs.field(factory=dict)
    """The same by path."""

    not_found: dict[str, Page] = attrs.field(factory=dict)
    """The app's own pages for other URLs, by path: of the whole site, and below folders."""

    dangling: list[Finding] = attrs.field(factory=list)
    """Links to what is left out."""

    async def run(self) -> None:
        """Collect all files, and everything that is wrong."""
        build = self.root / FOLDERS["production"]
        public = self.root / self.config.public_dir
        add_assets(self.files, build, self.manifest.assets.client)
        display_name = self.config.public_dir
        self.findings += add_public(self.files, build, public, display_name=display_name)
        targets = await self._targets()
        capturing = Capturing(
            self.app,
            self.place,
            payloads=any(self.manifest.views[route.view].scripts for route in self.plan.routes),
            markdown=self.config.llms.enabled,
        )
        for page in await capturing.all(targets, jobs=self.jobs, progress=self.progress):
            self._take(page)
        for api in self.plan.endpoints:
            await self._add_endpoint(api)
        await self._add_not_found()
        for folder in self._folders_with_not_found():
            await self._add_not_found_below(folder)
        if not capturing.payloads and self._has_state():
            for page in self.pages.values():
                await self._add_payload(page.target, capturing)
        await self._add_llms()
        self._add_for_hosts()
        self.findings += self.files.folder_conflicts()
        # Many links take seconds, which would be reported as a mistake of the application.
        await trio.to_thread.run_sync(self._check_links, limiter=trio.CapacityLimiter(1))

    async def _targets(self) -> list[Target]:
        """Return the pages of all routes, by path."""
        router = Router((route.pattern, route) for route in self.plan.routes)
        found = [(path, route) for route, path in static_paths(self.plan.routes)]
        for route in self.plan.routes:
            if "[" in route.pattern:
                paths, wrong = await known_paths(self.app, route, router, self.text)
                self.findings += wrong
                found += [(path, route) for path in paths]
        return [
            Target(path, route.pattern, self._sources(route.view))
            for path, route in sorted(found, key=lambda one: one[0])
        ]

    def _sources(self, view_id: int) -> tuple[str, ...]:
        view = self.manifest.views[view_id]
        return (view.module, *reversed(view.layouts))

    def _take(self, page: CapturedPage) -> None:
        """Add the files of a page, or note why it has none."""
        path, owner = page.target.path, page.target.sources[0]
        if page.findings:
            self.left_out += page.findings
            self.lost[path] = page.findings[0]
            return
        self.pages[path] = page
        html = page.html
        if page.moved is not None:
            self.moved.append(page.moved)
            html = site_files.moved_page(page.moved, lang=self.config.lang)
        self._add(page_file(path), self._secured(html), owner)
        if page.payload is not None:
            self._add(page_file(path, PAYLOAD_FILE), page.payload, owner)
        if page.markdown is not None:
            self._add(markdown_path(path)[1:], page.markdown, owner)

    def _has_state(self) -> bool:
        """Return whether a document has scripts, though no view of the site needs them.

        Its render has found that it does; they load the payloads of its links.
        """
        written = (one for one in self.files.contents.values() if isinstance(one, bytes))
        return any(STATE in one for one in written)

    async def _add_payload(self, target: Target, capturing: Capturing) -> None:
        payload, findings = await capturing.payload(target)
        self.left_out += findings
        if payload is not None and not findings:
            self._add(page_file(target.path, PAYLOAD_FILE), payload, target.sources[0])

    async def _add_endpoint(self, api: ApiRoute) -> None:
        """Add the response of an endpoint, such as a feed."""
        path, source = api.pattern, api.source
        answer = await capture(self.app, self.place, path, "text", source=source)
        findings = answer.findings
        if answer.status != 200 and not findings:
            findings = (wrong_status(answer, path, source, "to GET"),)
        if findings:
            self.left_out += findings
            self.lost[path] = findings[0]
            return
        self._add(path[1:], answer.body, source)

    def _add(self, name: str, content: bytes, owner: str) -> None:
        conflict = self.files.add(name, content, owner=owner)
        if conflict is not None:
            self.findings.append(conflict)

    def _secured(self, html: bytes) -> bytes:
        return with_policy(html) if self.config.csp == "enforce" else html

    async def _add_not_found(self) -> None:
        """Add what hosts answer for all other URLs: the root's `not-found.fxl`, or our own page."""
        view = self.manifest.not_found.get("/")
        source = "404.html" if view is None else self.manifest.views[view].module
        message = "This page could not be found."
        home = self.place.url("/") if "/" in self.pages else ""
        html = error_document(404, message, home=home)
        if view is not None:
            path = self._path_of_no_page("", view)
            answer = await capture(self.app, self.place, path, "html", source=source)
            self.left_out += answer.findings
            if not answer.findings and answer.status == 404:  # a page may have all URLs
                html = answer.body
                self.not_found[_NOT_FOUND] = Page(_NOT_FOUND, self._sources(view), _document(html))
        self.files.add_missing(_NOT_FOUND[1:], self._secured(html), owner=source)

    def _path_of_no_page(self, folder: str, view: int) -> str:
        """Return a path below ``folder`` that ``view`` answers, since no page has it.

        A page with parameters may have that of the file itself, which is returned if no other is
        found.
        """
        router = Router((route.pattern, route) for route in self.manifest.routes)
        deepest = max((route.pattern.count("/") for route in self.manifest.routes), default=0)
        paths = [folder + _NOT_FOUND * count for count in range(1, deepest + 2)]
        for path in paths:
            found = self.app.site.not_found.match(path)
            if found is not None and found[0] == view and router.match(path) is None:
                return path
        return paths[0]

    def _folders_with_not_found(self) -> list[str]:
        """Return the paths of folders that have a `not-found.fxl`, and pages in the export."""
        router = Router((one, one) for one in self.manifest.not_found if one != "/")
        folders = {
            path[:end]
            for path in self.pages
            for end in (*(at for at, sign in enumerate(path) if sign == "/" and at), len(path))
        }
        return sorted(one for one in folders if router.match(one) is not None)

    async def _add_not_found_below(self, folder: str) -> None:
        """Add what hosts answer for other URLs below a folder, such as that of a language."""
        path = folder + _NOT_FOUND
        found = self.app.site.not_found.match(path)
        assert found is not None  # the folder itself, or one around it
        sources = self._sources(found[0])
        unmatched = self._path_of_no_page(folder, found[0])
        answer = await capture(self.app, self.place, unmatched, "html", source=sources[0])
        if answer.status != 404:  # a page has all URLs of the folder
            return
        self.left_out += answer.findings
        if not answer.findings:
            self.not_found[path] = Page(path, sources, _document(answer.body))
            self.files.add_missing(path[1:], self._secured(answer.body), owner=sources[0])

    async def _add_llms(self) -> None:
        markdown = self.app.site.markdown
        if markdown is None:
            return
        texts = {
            path: page.markdown for path, page in self.pages.items() if page.markdown is not None
        }
        titles = {page.path: page.title for page in markdown.pages}
        markdown.pages = tuple(
            LlmsPageInfo(path, markdown_path(path), titles.get(path) or _title(path, text))
            for path, text in sorted(texts.items())
        )
        markdown.promising.update(dict.fromkeys(texts, True))
        answer = await capture(self.app, self.place, "/llms.txt", "text", source="/llms.txt")
        if answer.status == 200 and not answer.findings:
            self.files.add_missing("llms.txt", answer.body, owner="/llms.txt")
        else:
            remedy = "Its reason is in the log above"
            self.findings.append(Finding("/llms.txt", f"responds with {answer.status}", remedy))
        full = site_files.llms_full(self.place, texts)
        self.files.add_missing("llms-full.txt", full, owner="llms-full.txt")

    def _add_for_hosts(self) -> None:
        """Add what search engines and hosts read."""
        listed = (
            path
            for path, page in self.pages.items()
            if page.document is not None and page.document.indexed
        )
        fixed = standard_headers(csp="off", base_url="").fixed
        headers = [(name.decode().title(), value.decode()) for name, value in fixed]
        place, moved = self.place, self.moved
        folders = [path.removesuffix(_NOT_FOUND) for path in self.not_found if path != _NOT_FOUND]
        written = {
            "sitemap.xml": site_files.sitemap(place, listed),
            "_redirects": site_files.netlify_redirects(place, moved, folders),
            "_headers": site_files.netlify_headers(place, headers),
            "_hosts/nginx.conf": site_files.nginx_config(place, moved, folders, headers),
            "_hosts/Caddyfile": site_files.caddy_config(place, moved, folders, headers),
        }
        if not place.base_url:  # nobody looks for it elsewhere
            written["robots.txt"] = site_files.robots(place)
        for name, content in written.items():
            self.files.add_missing(name, content, owner=name)

    def _check_links(self) -> None:
        pages = {
            path: Page(
                path, page.target.sources, page.document, page.moved.location if page.moved else ""
            )
            for path, page in self.pages.items()
        }
        pages |= self.not_found
        routes: dict[str, str] = {
            pattern: pattern for pattern in self.plan.missing if pattern.startswith("/")
        }
        missing = Router(routes.items())

        def left_out(path: str) -> Finding | None:
            match = missing.match(path)
            return self.lost.get(path) or (match and self.plan.missing[match[0]]) or None

        files = frozenset(f"/{name}" for name in self.files.contents)
        check = LinkCheck(self.place, pages, files, left_out, self.text)
        broken, self.dangling = check.findings()
        self.findings += broken
