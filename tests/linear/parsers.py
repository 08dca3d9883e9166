"""What reads text from outside, each as a function of the bytes that somebody sends."""

from __future__ import annotations

from html import escape

from starlette.datastructures import UploadFile
from starlette.requests import HTTPConnection
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from fxtrio.asgi_entry import _below
from fxtrio.clients import network_of
from fxtrio.compression.accept_encoding import read_accepted
from fxtrio.compression.eligibility import is_text, visitor_of
from fxtrio.encode import escape_for_html
from fxtrio.head import parse_head
from fxtrio.jobs.store import decoded, storable
from fxtrio.log import printable
from fxtrio.markdown.convert import HtmlConverter
from fxtrio.markdown.escapes import drop_needless
from fxtrio.markdown.links import based_links
from fxtrio.markdown.llms import literal, title_of
from fxtrio.markdown.negotiation import prefers_markdown
from fxtrio.markdown.page_content import start_of_content
from fxtrio.markdown.paths import page_path
from fxtrio.origin import read_origin
from fxtrio.plugins.auth.passwords.passwords import normalize_password
from fxtrio.plugins.auth.sessions.tokens import binding_of, key_of
from fxtrio.plugins.auth.throttle import account_key
from fxtrio.realtime.handshake import origin_allowed
from fxtrio.realtime.stores.postgres import notify_payload
from fxtrio.realtime.stores.redis import split
from fxtrio.realtime.stores.wire import unpack
from fxtrio.routes.router import Router
from fxtrio.serve.actions.no_js_forms import _query_of
from fxtrio.serve.cache.cached_response import _cut, matches
from fxtrio.serve.cache.keys import canonical_query
from fxtrio.serve.cache.response_cache import ResponseCache
from fxtrio.serve.csp_report import _split as split_url
from fxtrio.serve.csp_report import parse_reports
from fxtrio.serve.pages.html.stream import NonceWriter
from fxtrio.serve.pages.html.stream_end import redirect_ending
from fxtrio.serve.pages.page import password_fields
from fxtrio.serve.pages.render import _names
from fxtrio.serve.request.bodies.body import is_private
from fxtrio.serve.request.bodies.forms import (
    MULTIPART,
    URLENCODED,
    form_values,
    media_type,
    options_of,
    parse_form,
)
from fxtrio.serve.request.bodies.json_body import parse_json
from fxtrio.serve.request.bodies.third_party_bodies import require_plain
from fxtrio.serve.request.csrf import CsrfTokens, _is_this_site, exempt, read_cookie
from fxtrio.serve.request.requests import parse_cookies
from fxtrio.serve.request.response.response import _private
from fxtrio.serve.static_files import _drop_long_range
from fxtrio.server.header_fields import is_host
from fxtrio.server.http1.app_runner import _is_named
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RequestReader
from fxtrio.server.http1.response import checked_name
from fxtrio.server.http1.target import split_target
from fxtrio.server.http1.websocket.handshake import read_offer, wants_websocket
from fxtrio.server.http1.websocket.protocol import WsProtocol
from fxtrio.server.http2.frame_rate_limit import FrameRateLimit
from fxtrio.server.http2.preface import PrefaceReader
from fxtrio.server.supervise.application.proxy_headers import Proxies, ProxyHeaders
from fxtrio.server.supervise.logs.access_log import escape as escape_for_log
from fxtrio.server.supervise.logs.query_redaction import hiding

from ..http2.client import PREFACE
from .tools import TOOLS, Parser, text

BOUNDARY = f"{MULTIPART}; boundary=b"
HEAD = b'--b\r\nContent-Disposition: form-data; name="a"'
WIDE = ServerLimits(request_line=10**7, head=10**7, headers=10**6, chunk_overhead=10**7)
"""Without the limits that protect a parser, so that it is judged by itself."""


def form(body: bytes) -> object:
    """Parse a multipart form as it comes from the disk."""
    chunks = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    found = parse_form(chunks, BOUNDARY)
    for value in found.values():
        if isinstance(value, UploadFile):
            value.file.close()
    return form_values(found)


def request(data: bytes) -> object:
    """Read requests as they come from a socket, and take apart what their heads say."""
    reader = RequestReader(WIDE)
    for at in range(0, len(data), 4096):
        reader.feed(data[at : at + 4096])
    for read in reader.requests:
        wants_websocket(read)
        read_offer(read, WIDE)
        split_target(read, secure=True)
    return reader.rejection


def field(name: bytes) -> Parser:
    """Read a request with a hostile field."""
    return lambda body: request(b"GET / HTTP/1.1\r\nHost: a\r\n%b: %b\r\n\r\n" % (name, body))


def offer(name: bytes) -> Parser:
    """Read the handshake of a WebSocket with a hostile field."""
    begin = (
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\n"
    )
    key = b"" if name.endswith(b"Key") else b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    return lambda body: request(b"%b%b%b: %b\r\n\r\n" % (begin, key, name, body))


def frames(body: bytes) -> object:
    """Take the messages of a WebSocket, each piece of 8 bytes a masked frame."""
    protocol = WsProtocol(ServerProtocol(state=OPEN, max_size=10**7), backlog=10**7)
    data = b"".join(
        bytes((0x81, 0x80 + len(piece))) + bytes(4) + piece
        for piece in (body[at : at + 8] for at in range(0, len(body), 8))
    )
    for at in range(0, len(data), 4096):
        protocol.feed(data[at : at + 4096])
    return protocol.take_output()


def forwarded(name: bytes) -> Parser:
    """Read what a trusted proxy tells of its client."""
    believing = ProxyHeaders(lambda *_: None, Proxies(("10.0.0.0/8",)))  # type: ignore[arg-type]
    return lambda body: believing._believe(
        {"type": "http", "scheme": "http", "headers": [(name, body)]}
    )


def several_ranges(body: bytes) -> object:
    """Drop a `Range` of many parts."""
    scope = {"headers": [(b"range", body), (b"accept", b"*/*")]}
    _drop_long_range(scope)
    return scope


def accept_origin(body: bytes) -> object:
    scope = {"type": "websocket", "headers": [(b"origin", body)]}
    return origin_allowed(HTTPConnection(scope), ["https://a.example"])


_tokens = CsrfTokens((b"key",))
_router = Router([("/", 0), ("/a/[b]/c", 1), ("/a/[...rest]", 2), ("/[a]/a/a", 3)])
_cache = ResponseCache.__new__(ResponseCache)
_cache._base_url = "/base"
_hide = hiding(("token", "key"))
_converter = HtmlConverter()

PARSERS: dict[str, Parser] = {
    # The server.
    "a request": request,
    "a target": lambda body: request(b"GET /" + body + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
    "an absolute target": lambda body: request(
        b"GET http://" + body + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    ),
    "a field": field(b"X-Any"),
    "fields": lambda body: request(b"GET / HTTP/1.1\r\nHost: a\r\n" + body),
    "Transfer-Encoding": field(b"Transfer-Encoding"),
    "Expect": field(b"Expect"),
    "Upgrade": lambda body: field(b"Upgrade")(body + b"\r\nConnection: upgrade"),
    "Connection": field(b"Connection"),
    "chunks": lambda body: request(
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body
    ),
    "one chunk after the other": lambda body: request(
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1\r\na\r\n" * (len(body) // 6)
    ),
    "a host": lambda body: is_host.__wrapped__(body),
    "a host that has to be one of some": lambda body: _is_named(body, ["a.example", "b:8000"]),
    "WebSocket key": offer(b"Sec-WebSocket-Key"),
    "WebSocket protocols": offer(b"Sec-WebSocket-Protocol"),
    "WebSocket extensions": offer(b"Sec-WebSocket-Extensions"),
    "WebSocket frames": frames,
    "HTTP/2's greeting": lambda body: PrefaceReader().feed(PREFACE + body),
    "HTTP/2's frames": lambda body: FrameRateLimit(10**7).feed(body, 0),
    "X-Forwarded-For": forwarded(b"x-forwarded-for"),
    "X-Forwarded-Proto": forwarded(b"x-forwarded-proto"),
    "an address": text(network_of),
    "a line of the access log": escape_for_log,
    "secrets of a query": lambda body: _hide(b"a=%3F" + body),
    "a name of a query": lambda body: _hide(b"a" + body + b"=%3Fb"),
    "a name within a query": lambda body: _hide(b"a=%3F" + body + b"%3Db"),
    "a line of the log": text(printable),
    # Heads.
    "links in Markdown": text(lambda one: based_links(one, "/sub")),
    "code in Markdown": text(lambda one: based_links("> - ```\n> -" + one, "/sub")),
    "a link in Markdown": text(lambda one: based_links(f"[a](/{one})", "/sub")),
    "Accept": text(prefers_markdown, "text/markdown"),
    "Accept-Encoding": read_accepted,
    "Content-Type": text(options_of, "multipart/form-data; "),
    "Content-Type of a response": is_text,
    "names of the values that a navigation needs": _names,
    "Content-Type, its kind": text(media_type),
    "Cache-Control of a page": _private,
    "a header's name of a page": checked_name,
    "cookies": text(lambda header: parse_cookies([header])),
    "a quoted cookie": text(lambda header: parse_cookies([header]), 'a="', '"'),
    "the token cookie": lambda body: read_cookie(b"fx-csrf=" + body, "fx-csrf"),
    "cookies of a visitor": lambda body: visitor_of(
        [(b"cookie", body)], [body], common=frozenset({b"", b"a"})
    ),
    "a token": text(lambda token: _tokens.matches(token, token, "")),
    "a session that a token is bound to": text(lambda session: _tokens.holds("a.b", session)),
    "a token with a signature": text(lambda token: _tokens.holds(token, ""), "a."),
    "foreign": lambda body: require_plain([(b"cookie", body), (b"content-type", body)]),
    "Origin": text(read_origin, "http://"),
    "Origin and Host": text(lambda sent: _is_this_site("http://" + sent, sent.encode(), "http")),
    "Origin of a WebSocket": accept_origin,
    "Referer": lambda body: _query_of(b"http://a/b?" + body, "/b"),
    "If-None-Match": lambda body: matches(body, b'W/"a"'),
    "Range": several_ranges,
    "Location": lambda body: _below(b"/pre", b"/base", b"location", b"/" + body),
    # URLs.
    "a path": text(_router.match, "/"),
    "a path with escapes": lambda body: _router.match("/", b"/%2F" + body),
    "a path with a slash": text(lambda path: _router.canonical("/" + path + "/")),
    "a path without CSRF": text(lambda path: exempt(path, ["/a/", "/b"])),
    "a URL that is invalidated": text(_cache._page_of, "/"),
    "a path of Markdown": text(page_path, "/", ".md"),
    "a query": canonical_query,
    # Bodies.
    "JSON": parse_json,
    "urlencoded": lambda body: form_values(parse_form([body], URLENCODED)),
    "multipart": form,
    "multipart, in a field": lambda body: form(HEAD + b"\r\n\r\n" + body + b"\r\n--b--"),
    "multipart, in a file": lambda body: form(
        HEAD + b'; filename="f"\r\n\r\n' + body + b"\r\n--b--"
    ),
    "multipart, in a header": lambda body: form(HEAD + b"; " + body + b"\r\n\r\n\r\n--b--"),
    "the name of a field": text(is_private),
    "a report of a browser": parse_reports,
    "a URL of a report": text(split_url, "http://"),
    "a session's token": text(lambda token: (key_of(token), binding_of(token))),
    "an address of an account": text(account_key),
    "a password": text(normalize_password),
    # Text of visitors in pages.
    "a head": text(parse_head),
    "a title": text(lambda title: parse_head(f"<title>{escape(title)}</title>")),
    "a value of a head": text(lambda value: parse_head(f'<meta name="a" content="{value}">')),
    "a URL of a head": text(lambda url: parse_head(f'<link rel="a" href="{url}" srcset="{url}">')),
    "declarations of a head": text(parse_head, "<!"),
    "instructions of a head": text(parse_head, "<?"),
    "marked text of a head": text(parse_head, "<![CDATA["),
    "a late redirect": text(redirect_ending),
    "a head without scripts": text(lambda html: parse_head(f"<noscript>{html}</noscript>")),
    "JSON in HTML": escape_for_html,
    "HTML of a page with a form": password_fields,
    "HTML with nonces": NonceWriter(b"a" * 20, b"b").feed,
    "HTML that is cached": lambda body: _cut(body, b"ab"),
    "Markdown's escapes": text(drop_needless, "\\."),
    "where content starts": text(start_of_content, after="<main>"),
    "HTML to Markdown": text(lambda html: _converter._convert(html, "a.fxl")),
    "text to Markdown": text(lambda value: _converter._convert(escape(value), "a.fxl")),
    "a line of llms.txt": text(literal),
    "a title of llms.txt": text(title_of),
    # What other processes and stores say.
    "a message of a broker": lambda body: unpack(b"t" + body),
    "news of a broker": lambda body: unpack(b"j" + body),
    "news of an epoch": lambda body: unpack(b"h" + body),
    "a message of Redis": lambda body: split(b"1" + body),
    "a message for PostgreSQL": notify_payload,
    "arguments of a job": text(decoded),
    "an error of a job": text(storable),
    **TOOLS,
}
