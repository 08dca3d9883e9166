"""Files of a site besides its pages: for search engines, agents and hosts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import attrs

from fxtrio.export.place import Place

_IMMUTABLE = "public, max-age=31536000, immutable"
_NOTICE = "Written by fx export."


@attrs.frozen
class Moved:
    """A page that only leads to another URL."""

    path: str
    """Decoded, without the base."""

    location: str
    """The URL, as the app sends it."""

    status: int


def sitemap(place: Place, paths: Iterable[str]) -> bytes:
    """Return `sitemap.xml` of the pages at decoded paths."""
    urls = "".join(
        f"<url><loc>{escape(place.absolute(path))}</loc></url>\n" for path in sorted(paths)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}</urlset>\n"
    ).encode()


def robots(place: Place) -> bytes:
    """Return `robots.txt`, which opens the site and names the sitemap."""
    return f"User-agent: *\nAllow: /\n\nSitemap: {place.absolute('/sitemap.xml')}\n".encode()


def llms_full(place: Place, markdown: Mapping[str, bytes]) -> bytes:
    """Return the Markdown of all pages in one text, by path."""
    parts = [
        f"<!-- {place.absolute(path)} -->\n\n{text.decode().strip()}\n"
        for path, text in sorted(markdown.items())
    ]
    return "\n".join(parts).encode()


def moved_page(moved: Moved, *, lang: str) -> bytes:
    """Return the document of a page that leads elsewhere, for hosts that cannot redirect."""
    url = escape(moved.location)
    return (
        f'<!DOCTYPE html><html lang="{escape(lang)}"><head><meta charset="utf-8">'
        f'<title>{url}</title><meta http-equiv="refresh" content="0; url={url}">'
        f'<link rel="canonical" href="{url}"><meta name="robots" content="noindex"></head>'
        f'<body><p><a href="{url}">{url}</a></p></body></html>'
    ).encode()


def netlify_redirects(place: Place, moved: Sequence[Moved], folders: Sequence[str]) -> bytes:
    """Return `_redirects`, which Netlify and Cloudflare Pages read.

    ``folders`` have a page for URLs that are not found below them; innermost folders are first.
    Cloudflare Pages finds these pages by itself.
    """
    lines = [f"# {_NOTICE}"]
    lines += [f"{place.url(one.path)} {one.location} {one.status}" for one in moved]
    lines += [f"{place.url(one)}/* {place.url(one)}/404.html 404" for one in _innermost(folders)]
    return "\n".join([*lines, ""]).encode()


def netlify_headers(place: Place, headers: Sequence[tuple[str, str]]) -> bytes:
    """Return `_headers`, which Netlify and Cloudflare Pages read."""
    lines = [f"# {_NOTICE}", f"{place.url('/*')}"]
    lines += [f"  {name}: {value}" for name, value in headers]
    lines += [place.url("/_fx/*"), f"  Cache-Control: {_IMMUTABLE}", ""]
    return "\n".join(lines).encode()


def _innermost(folders: Sequence[str]) -> list[str]:
    return sorted(folders, key=lambda folder: (-folder.count("/"), folder))


def nginx_config(
    place: Place,
    moved: Sequence[Moved],
    folders: Sequence[str],
    headers: Sequence[tuple[str, str]],
) -> bytes:
    """Return what nginx includes in the `server` block of the site.

    A block with an `add_header` of its own has none of those around it, so each has all.
    """
    base = _nginx(place.base_url)[1:-1]
    served = "try_files $uri $uri/index.html =404;"
    shared = [f"add_header {name} {_nginx(value)} always;" for name, value in headers]

    def block(match: str, lines: Iterable[str]) -> list[str]:
        return [f"location {match} {{", *(f"    {line}" for line in lines), "}"]

    lines = [
        f"# {_NOTICE} Include it in the server block, in which `root` is the folder that",
        f"# has the export as {place.base_url or 'itself'}.",
        "charset utf-8;",
        "index index.html;",
        "gzip_static on;",
        f'error_page 404 "{base}/404.html";',
        *block(f'"{base}/"', [*shared, served]),
        *block(f'"{base}/_fx/"', [*shared, f'add_header Cache-Control "{_IMMUTABLE}" always;']),
        *block(
            r"~ \.md$",
            [*shared, "types { }", 'default_type "text/markdown; charset=utf-8";'],
        ),
    ]
    for folder in folders:
        below = _nginx(place.base_url + folder)[1:-1]
        lines += block(f'"{below}/"', [f'error_page 404 "{below}/404.html";', *shared, served])
    for one in moved:
        path = _nginx(place.base_url + one.path)
        lines += block(f"= {path}", [f"return {one.status} {_nginx(one.location)};"])
    return "\n".join([*lines, ""]).encode()


def _nginx(text: str) -> str:
    """Return a string of nginx, in which ``$`` would begin a variable."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "%24") + '"'


def caddy_config(
    place: Place,
    moved: Sequence[Moved],
    folders: Sequence[str],
    headers: Sequence[tuple[str, str]],
) -> bytes:
    """Return what Caddy imports in the block of the site."""
    base = place.url("")
    lines = [
        f"# {_NOTICE} Import it in the block of the site, in which `root` is the folder that",
        f"# has the export as {place.base_url or 'itself'}.",
        *(f'header {base}/* {name} "{value}"' for name, value in headers),
        f'header {base}/_fx/* Cache-Control "{_IMMUTABLE}"',
        *(f"redir {place.url(one.path)} {one.location} {one.status}" for one in moved),
        "try_files {path} {path}/index.html",
        "file_server {",
        "    precompressed br zstd gzip",
        "}",
        "handle_errors {",
        *(
            f"    handle {path}* {{\n        rewrite * {path}404.html\n        file_server\n    }}"
            for path in (f"{place.url(folder)}/" for folder in _innermost(folders))
        ),
        f"    handle {{\n        rewrite * {base}/404.html\n        file_server\n    }}"
        if folders
        else f"    rewrite * {base}/404.html\n    file_server",
        "}",
    ]
    return "\n".join([*lines, ""]).encode()
