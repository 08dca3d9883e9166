"""A page of another site, in a real browser, gets nothing of a project that `fx dev` serves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from tests.e2e.support import CHROMIUM, CHROMIUM_FLAGS, Server, visit

pytestmark = [pytest.mark.browser, pytest.mark.shared_dev]

ATTACK = """async (victim) => {
  const got = {};
  const note = async (name, work) => {
    try { got[name] = await work(); } catch (error) { got[name] = 'refused'; }
  };
  const element = (tag, fields) => new Promise((resolve, reject) => {
    const made = Object.assign(document.createElement(tag), fields);
    made.onload = () => resolve('loaded');
    made.onerror = () => reject(new Error('refused'));
    document.head.append(made);
  });
  const page = `${victim}/_fx/pages/index.fxl.tsx`;
  await note('document', async () => (await fetch(victim)).text());
  await note('payload', async () =>
    (await fetch(victim, { headers: { 'x-fx-navigation': '1' } })).text());
  await note('module', async () => (await fetch(page)).text());
  await note('import', async () => Object.keys(await import(page)));
  await note('blind', async () => {
    const answer = await fetch(page, { mode: 'no-cors' });
    return (await answer.text()) || 'refused';
  });
  await note('script', () => element('script', { src: page }));
  await note('client', () =>
    element('script', { src: `${victim}/_fx/@vite/client`, type: 'module' }));
  await note('style', () =>
    element('link', { rel: 'stylesheet', href: `${victim}/_fx/pages/styles.css` }));
  await note('action', async () => {
    const options = { method: 'POST', body: 'text=evil', mode: 'no-cors' };
    const answer = await fetch(`${victim}/api/__actions/index/add_note`, options);
    return (await answer.text()) || 'refused';
  });
  await note('updates', () => new Promise((resolve, reject) => {
    const socket = new WebSocket(`${victim.replace('http', 'ws')}/_fx/@hot`);
    socket.onmessage = ({ data }) => resolve(data);
    socket.onclose = () => reject(new Error('refused'));
  }));
  return got;
}"""


@contextmanager
def another_site(folder: Path) -> Iterator[str]:
    """Serve a page of somebody else, and return its URL."""
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Evil</title>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_page_of_another_origin_gets_nothing(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    with another_site(tmp_path / "evil") as url:
        page = visit(browser).page
        page.goto(url)

        got = page.evaluate(ATTACK, server.url)

    assert {name: response for name, response in got.items() if response != "refused"} == {}
    page.goto(server.url)
    assert "evil" not in page.inner_text("body")


def test_a_name_that_another_site_lets_lead_here_gets_nothing(
    browser: Browser, server: Server
) -> None:
    flags = [*CHROMIUM_FLAGS, "--host-resolver-rules=MAP evil.test 127.0.0.1"]
    rebound = browser.browser_type.launch(executable_path=CHROMIUM, args=flags)
    victim = f"http://evil.test:{urlsplit(server.url).port}"
    try:
        page = rebound.new_page()
        answer = page.goto(victim)
        assert answer is not None
        assert answer.status == 403
        got = page.evaluate(ATTACK, victim)
    finally:
        rebound.close()

    for name in ("document", "payload", "module", "blind", "action"):
        assert got[name].startswith("fx dev: 'evil.test:"), name
    rest = ("import", "script", "client", "style", "updates")
    assert {name: got[name] for name in rest if got[name] != "refused"} == {}
