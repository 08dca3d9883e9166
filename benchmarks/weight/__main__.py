"""Weigh pages of fxtrio, and of others beside it, in Chromium.

    python -m benchmarks.weight [--peers]

Builds the sites of `benchmarks/apps/weight-*` and a new project, opens each page with an empty
cache, and counts what it has loaded until the network is idle. Each body is compressed with gzip
here, at level 9, so that no server's settings matter. Writes results/weight-<date>.json and .md.
`--peers` installs Astro, SvelteKit and Next.js with npm. Returns 1 if a page of fxtrio is heavier
than it should be.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import attrs
from playwright.sync_api import Browser, Response
from rich.console import Console

from benchmarks import cache, machine
from benchmarks.weight.sites import PEERS, Site, own_site, peer_site, starter_site
from tests.e2e.support import open_browser

RESULTS = Path(__file__).parents[1] / "results"

LIMITS = {
    "hello": (400, 1),
    "docs page": (4500, 1),
    "counter": (72_000, 4),
    "starter /about": (2000, 2),
    "starter /": (79_500, 6),
}
"""What a page of fxtrio may load, compressed (bytes), and in how many requests."""

_ARTICLE = re.compile(r"<main>(.*)</main>", re.DOTALL)


@attrs.frozen
class Load:
    """What one page has loaded; sizes are bytes after gzip."""

    page: str
    site: str
    version: str
    html: int
    script: int
    style: int
    requests: int
    failed: int
    """Requests with a status of 400 or more."""

    @property
    def sent(self) -> int:
        """All of it together."""
        return self.html + self.script + self.style


def main() -> int:
    """Weigh all pages. Returns 1 if one is too heavy or could not be measured."""
    console = Console()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weight")
    parser.add_argument("--peers", action="store_true", help="weigh others, too; needs npm")
    options = parser.parse_args()
    try:
        with open_browser() as browser:
            loads = list(_weigh(browser, console, peers=options.peers))
    except cache.InstallFailed as error:
        console.print(str(error), style="red", markup=False)
        return 1
    text = table(loads)
    console.print(text, markup=False)
    now = datetime.now().astimezone()
    RESULTS.mkdir(exist_ok=True)
    place = RESULTS / f"weight-{now:%Y-%m-%dT%H-%M-%S}"
    facts = {"machine": machine.facts(), "loads": [attrs.asdict(load) for load in loads]}
    place.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")
    place.with_suffix(".md").write_text(f"{text}\n")
    console.print(f"written to {place}.md", markup=False)
    heavy = [line for load in loads for line in too_heavy(load)]
    for line in heavy:
        console.print(line, style="red", markup=False)
    return 1 if heavy else 0


def _weigh(browser: Browser, console: Console, *, peers: bool) -> Iterator[Load]:
    console.print("[dim]fxtrio[/dim]")
    own = own_site()
    article = ""
    with own.serve() as url:
        yield from weigh(browser, own, url)
        if peers:
            page = browser.new_page()
            page.goto(f"{url}{own.pages['docs page']}")
            found = _ARTICLE.search(page.content())
            assert found is not None  # the layout of our own site
            article = found[1]
            page.close()
    starter = starter_site()
    with starter.serve() as url:
        yield from weigh(browser, starter, url)
    for peer in PEERS if peers else ():
        console.print(f"[dim]{peer[1]}[/dim]")
        site = peer_site(*peer, article=article)
        with site.serve() as url:
            yield from weigh(browser, site, url)


def weigh(browser: Browser, site: Site, url: str) -> Iterator[Load]:
    """Yield what each page of a site loads that is served at `url`."""
    for name, path in site.pages.items():
        context = browser.new_context()  # with an empty cache
        page = context.new_page()
        responses: list[Response] = []
        page.on("response", _keep_in(responses))
        page.goto(f"{url}{path}", wait_until="networkidle")
        found = [one for one in responses if "favicon" not in one.url and one.status < 300]
        sizes = dict.fromkeys(("document", "script", "stylesheet"), 0)
        for one in found:
            kind = one.request.resource_type
            # What is loaded as data, such as payloads, is for scripts.
            kind = kind if kind in sizes else "script"
            sizes[kind] += len(gzip.compress(one.body(), mtime=0))
        failed = sum(one.status >= 400 and "favicon" not in one.url for one in responses)
        yield Load(
            name,
            site.name,
            site.version,
            html=sizes["document"],
            script=sizes["script"],
            style=sizes["stylesheet"],
            requests=len(found),
            failed=failed,
        )
        context.close()


def _keep_in(responses: list[Response]) -> Callable[[Response], None]:
    def keep(response: Response) -> None:
        responses.append(response)

    return keep


def too_heavy(load: Load) -> Iterator[str]:
    """Yield what is wrong with the weight of a page of fxtrio."""
    most, requests = LIMITS.get(load.page, (None, None)) if load.site == "fxtrio" else (None, None)
    if most is not None and load.sent > most:
        yield f"{load.page}: {load.sent} bytes, and not {most} at most."
    if requests is not None and load.requests > requests:
        yield f"{load.page}: {load.requests} requests, and not {requests} at most."
    if load.failed:
        yield f"{load.page} of {load.site}: {load.failed} requests failed."


def table(loads: Sequence[Load]) -> str:
    """Return the loads as a Markdown table, by page."""
    lines = [
        "| page | site | HTML | scripts and data | CSS | requests |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name in dict.fromkeys(load.page for load in loads):
        for load in loads:
            if load.page == name:
                sizes = " | ".join(map(_size_text, (load.html, load.script, load.style)))
                version = load.version if load.site != "fxtrio" else ""
                site = f"{load.site} {version}".strip()
                lines.append(f"| {name} | {site} | {sizes} | {load.requests} |")
    return "\n".join(lines)


def _size_text(size: int) -> str:
    return f"{size / 1000:.1f} kB" if size else "0"


if __name__ == "__main__":
    sys.exit(main())
