"""nginx set up as the documentation says, with rules of its own, in front of one server."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

from tests.machines.nginx import NGINX
from tests.ports import free_port

from .support import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["guides/several-machines.md", "reference/server.md"]
RULES = """
    access_log {folder}/access.log;
    location /denied {{ return 403; }}
    location /private {{ auth_basic "private"; auth_basic_user_file {folder}/users; {proxied} }}
    location /limited {{ limit_req zone=few; {proxied} }}
"""
MAIN = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
{user}
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    limit_req_zone $binary_remote_addr zone=few:1m rate=1r/m;
    {site}
}}
"""


@attrs.frozen
class Nginx:
    port: int
    access_log: Path


def configured(page: str, folder: Path, port: int, behind: int) -> str:
    """Return the block of a page, with our addresses and further rules, and nothing else."""
    (block,) = re.findall(r"```nginx\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    block = re.sub(r"server 10\.0\.0\.11:8000;", f"server 127.0.0.1:{behind};", block)
    block = re.sub(r" *server 10\.0\.0\.12:8000;\n", "", block)
    block = re.sub(r"http://unix:\S+;", f"http://127.0.0.1:{behind};", block)
    block = re.sub(r" *listen 80;\n", "", block)
    (proxied,) = re.findall(r"location / \{(.*?)\n    \}", block, re.DOTALL)
    rules = RULES.format(folder=folder, proxied=re.sub(r"#.*", "", proxied))
    block = re.sub(r"\nserver \{", rf"\nserver {{\n    listen 127.0.0.1:{port};{rules}", block)
    user = "user root;" if os.geteuid() == 0 else ""
    return MAIN.format(folder=folder, user=user, site=block)


@asynccontextmanager
async def nginx_before(behind: int, page: str, folder: Path) -> AsyncIterator[Nginx]:
    """Pass requests on to the port ``behind``, by the block of a page."""
    port = free_port()
    (folder / "users").write_text("")
    (folder / "nginx.conf").write_text(configured(page, folder, port, behind))
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    process = await trio.lowlevel.open_process(command)
    try:
        with trio.fail_after(PATIENCE):
            while True:
                assert process.poll() is None, (folder / "error.log").read_text()
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await trio.sleep(0.02)
        yield Nginx(port, folder / "access.log")
    finally:
        process.terminate()
        with trio.CancelScope(shield=True), trio.fail_after(PATIENCE):
            await process.wait()
