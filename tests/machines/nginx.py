"""nginx of the tests' own, in front of several servers: a request goes to each in turn."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import Template

import httpx

from tests.ports import free_port

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "/usr/sbin/nginx"
LIMIT = 30.0
_CONFIG = Template(
    """
daemon off;
worker_processes 1;
pid $folder/pid;
error_log $folder/error.log;
$user
events {}
http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi;
    uwsgi_temp_path $folder/uwsgi;
    scgi_temp_path $folder/scgi;
    upstream machines { $machines }
    map $$http_upgrade $$websocket { default ""; "~*^websocket$$" websocket; }
    map $$websocket $$connection_upgrade { default ""; websocket upgrade; }
    server {
        listen 127.0.0.1:$port;
        location / {
            proxy_pass http://machines;
            proxy_http_version 1.1;
            proxy_set_header Host $$http_host;
            proxy_set_header X-Forwarded-For $$remote_addr;
            proxy_set_header X-Forwarded-Proto $$scheme;
            proxy_set_header Upgrade $$websocket;
            proxy_set_header Connection $$connection_upgrade;
            proxy_buffering off;
            proxy_next_upstream error timeout http_503;
            add_header X-Machine $$upstream_addr always;
        }
    }
}
"""
)


@contextmanager
def running_nginx(folder: Path, ports: Sequence[int]) -> Iterator[int]:
    """Run it before servers on ``ports`` of this machine; give its own port."""
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(
        _CONFIG.substitute(
            folder=folder,
            port=port,
            user="user root;" if os.geteuid() == 0 else "",
            machines=" ".join(f"server 127.0.0.1:{each};" for each in ports),
        )
    )
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(config)])
    try:
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/healthz")
                break
            except httpx.TransportError:
                assert process.poll() is None, (folder / "error.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.02)
        yield port
    finally:
        process.send_signal(signal.SIGQUIT if process.poll() is None else 0)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(LIMIT)
