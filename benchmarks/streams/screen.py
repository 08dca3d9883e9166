"""From a ``yield`` to the frame that shows it, through nginx as it comes."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.streams.site import served
from tests.e2e.support import CHROMIUM, CHROMIUM_FLAGS
from tests.ports import free_port

CONFIG = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u;
  scgi_temp_path {folder}/s;
{servers}
}}
"""
SERVER = """
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{secure} ssl http2;
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
    location / {{
      {compression}
      proxy_pass http://127.0.0.1:{port};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }}
"""
COMPRESSION = {
    "gzip": "proxy_set_header Accept-Encoding gzip;",
    "br": "proxy_set_header Accept-Encoding br;",
    "zstd": "proxy_set_header Accept-Encoding zstd;",
    "gzip of nginx": 'proxy_set_header Accept-Encoding ""; gzip on; gzip_types text/event-stream;',
}
"""What compresses the values: our server, in one of its encodings, or nginx."""


def screen(root: Path) -> str:
    """Measure 20 values at a pace of 100 ms, compressed in each way, over HTTP/1.1 and HTTP/2."""
    with served(root) as site, _proxy(site.port) as urls, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=[*CHROMIUM_FLAGS])
        found = [f"{by}, {_watch(browser, url)}" for by, pair in urls.items() for url in pair]
        browser.close()
    return "; ".join(found)


def _watch(browser: Browser, url: str) -> str:
    """Return how late the values of one call are on screen."""
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(url)
    # A streamed response to a request with the CSRF cookie is never compressed.
    context.clear_cookies()
    with page.expect_response("**/__actions/**") as answer:
        page.get_by_role("button").click()
    page.get_by_role("button", name="19", exact=True).wait_for()
    page.wait_for_function("window.shown === 19")
    # Two values that arrive together are shown together: only the second is counted.
    lateness = page.evaluate("window.late")
    protocol = page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")
    coding = answer.value.all_headers().get("content-encoding", "uncompressed")
    context.close()
    return (
        f"{protocol} ({coding}): first {lateness[0]:.0f} ms, "
        f"median {statistics.median(lateness):.0f}, longest {max(lateness):.0f}"
    )


@contextmanager
def _proxy(port: int) -> Iterator[dict[str, tuple[str, str]]]:
    """Run nginx in front of ``port``; return its URLs without and with TLS for each compression."""
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory() as folder:
        subject = ["-subj", "/CN=localhost", "-nodes", "-days", "1"]
        key = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
        make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *key, *subject]
        subprocess.run(make, check=True, capture_output=True)
        urls, servers = {}, ""
        for by, compression in COMPRESSION.items():
            plain, secure = free_port(), free_port()
            urls[by] = (f"http://127.0.0.1:{plain}/", f"https://127.0.0.1:{secure}/")
            values = {"plain": plain, "secure": secure, "compression": compression}
            servers += SERVER.format(folder=folder, port=port, **values)
        config = Path(folder) / "nginx.conf"
        config.write_text(CONFIG.format(folder=folder, servers=servers), "utf-8")
        process = subprocess.Popen([nginx, "-c", str(config), "-p", folder])
        try:
            time.sleep(1)
            yield urls
        finally:
            process.terminate()
            process.wait()
