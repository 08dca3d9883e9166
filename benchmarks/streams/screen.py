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

from playwright.sync_api import sync_playwright

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
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{secure} ssl http2;
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
    location / {{
      proxy_pass http://127.0.0.1:{port};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }}
}}
"""


def screen(root: Path) -> str:
    """Measure 20 values at a pace of 100 ms, over HTTP/1.1 with gzip and HTTP/2 with Brotli."""
    found = []
    with served(root) as site, _proxy(site.port) as (plain, secure), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=[*CHROMIUM_FLAGS])
        for url in (plain, secure):
            page = browser.new_context(ignore_https_errors=True).new_page()
            page.goto(url)
            # A streamed response to a request with the CSRF cookie is never compressed.
            page.context.clear_cookies()
            with page.expect_response("**/__actions/**") as answer:
                page.get_by_role("button").click()
            page.wait_for_function("window.late?.length >= 20", timeout=30_000)
            late = page.evaluate("window.late")
            protocol = page.evaluate(
                "performance.getEntriesByType('navigation')[0].nextHopProtocol"
            )
            coding = answer.value.all_headers().get("content-encoding", "uncompressed")
            found.append(
                f"{protocol} ({coding}): first {late[0]:.0f} ms, "
                f"median {statistics.median(late):.0f}, longest {max(late):.0f}"
            )
        browser.close()
    return "; ".join(found)


@contextmanager
def _proxy(port: int) -> Iterator[tuple[str, str]]:
    """Run nginx in front of ``port``; return its URLs with and without TLS."""
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    plain, secure = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        subject = ["-subj", "/CN=localhost", "-nodes", "-days", "1"]
        key = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
        make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *key, *subject]
        subprocess.run(make, check=True, capture_output=True)
        config = Path(folder) / "nginx.conf"
        values = {"folder": folder, "plain": plain, "secure": secure, "port": port}
        config.write_text(CONFIG.format(**values), "utf-8")
        process = subprocess.Popen([nginx, "-c", str(config), "-p", folder])
        try:
            time.sleep(1)
            yield f"http://127.0.0.1:{plain}/", f"https://127.0.0.1:{secure}/"
        finally:
            process.terminate()
            process.wait()
