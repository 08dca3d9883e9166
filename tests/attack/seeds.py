"""What breaks programs: texts, numbers, names of charsets, keys and paths of the app."""

from __future__ import annotations

TEXTS = (
    b"", b"\0", b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80" * 5,
    "\u2028\u2029\ufeff".encode(), "\U0001f468\u200d\U0001f469".encode(), "ﷺ".encode() * 20,
    "a\u0301\u0316".encode() * 30, b"+2AA-", b"xn--a-ecp.ru", b"\\ud800", b"\\u0000",
    b"\\uDC00\\uD800", b"</script><script>forged()", b"<!--", b"]]>", b"{{x}}", b"${x}", b"%s%n",
    b"__proto__", b"constructor",
    b"../../etc/passwd", b"\r\nX-Forged: 1", b"%0d%0aX-Forged: 1", b"'\";--", b"=cmd|' /C'!A0",
    b"a" * 5000, b"\\" * 4000, b'"' * 4000, b"%" * 4000, b"&" * 2000, b";" * 4000, b"=" * 4000,
)  # fmt: skip

NUMBERS = (
    b"NaN", b"nan", b"-nan", b"inf", b"-Infinity", b"1e400", b"-1e400", b"1e-400", b"sNaN", b"-0",
    b"0x10", b"1_000", b"1e5", b"1E999999999", b"9" * 400, b"9" * 5000, b"1" + b"0" * 30,
    "١٢٣".encode(), b"0.1e1", b".5", b"1.", b"+1", b"18446744073709551616", b"true", b"null",
)  # fmt: skip

CHARSETS = (
    b"utf-8", b"UTF8", b"latin-1", b"iso-8859-1", b"windows-1252", b"ascii", b"punycode", b"idna",
    b"utf-7", b"utf-16", b"utf-32", b"utf-16-le", b"utf-8-sig", b"rot13", b"hex", b"zip", b"bz2",
    b"base64", b"uu", b"quopri", b"unicode_escape", b"raw_unicode_escape", b"undefined", b"mbcs",
    b"hz", b"iso2022_jp", b"gb18030", b"cp037", b"no-such-charset", b"", b"\xff", b"a" * 3000,
    b'"utf-8', b"utf-8\\", b"utf-8;charset=utf-7", b"../utf-8", b"utf-8\0",
)  # fmt: skip

KEYS = (b"name", b"message", b"when", b"kind", b"tags", b"numbers", b"lines", b"price", b"ratio",
        b"by_name", b"day", b"legs", b"km", b"cost", b"express", b"age", b"height", b"wealth",
        b"born", b"addresses", b"street", b"number", b"article", b"count", b"to", b"_csrf_token",
        b"__proto__", b"lines.0.price", b"lines[0][price]", b"name[]", b"")  # fmt: skip

ACTIONS = (
    b"index/sign", b"index/post", b"typed/order", b"typed/trip", b"typed/person", b"typed/maybe",
    b"upload/send",
)  # fmt: skip
"""Actions that are open to everybody."""

GUARDED_ACTIONS = (
    b"vault/invite", b"somebody/invite", b"register/invite", b"notes/a/b/invite",
    b"login.md/invite", b"register.md/invite", b"about.md/invite",
)  # fmt: skip

ENDPOINTS = (b"/api/echo", b"/api/secret", b"/api/__auth/login", b"/api/__auth/register",
             b"/api/__auth/logout", b"/api/__csp", b"/api/__csrf", b"/api/feed",
             b"/api/stored")  # fmt: skip

PAGES = (b"/", b"/about", b"/search", b"/typed", b"/upload", b"/login", b"/docs", b"/docs/a/b",
         b"/rooms/x", b"/nowhere/at/all", b"/llms.txt", b"/index.md", b"/about.md", b"/docs/a.md",
         b"/search.md", b"/rooms/x.md", b"/healthz", b"/readyz", b"/favicon.ico",
         b"/pay", b"/openapi.json")  # fmt: skip

GUARDED_PAGES = (b"/vault", b"/somebody", b"/register", b"/notes/a/b", b"/vault.md",
                 b"/login.md", b"/register.md")  # fmt: skip

HEADERS = (
    (b"Accept", b"text/markdown"),
    (b"Accept", b"text/html"),
    (b"Accept", b"text/html;q=0.9," * 300),
    (b"Accept", b"*/*;q=" + b"0" * 400),
    (b"Accept-Encoding", b"gzip, br, zstd, identity;q=0"),
    (b"Accept-Encoding", b"gzip;q=1," * 500),
    (b"Accept-Language", b"de;q=0.5," * 300),
    (b"Range", b"bytes=0-"),
    (b"Range", b"bytes=" + b"0-1," * 1500),
    (b"Range", b"bytes=-" + b"9" * 50),
    (b"If-None-Match", b'"a",' * 1500),
    (b"If-None-Match", b"*"),
    (b"If-None-Match", b'W/"' + b"\\" * 3000),
    (b"If-Modified-Since", b"Sat, 99 Nov 99999 99:99:99 GMT"),
    (b"If-Range", b'"' * 3000),
    (b"Referer", b"http://["),
    (b"Referer", b"http://a/\xff?" + b"%zz" * 200),
    (b"Origin", b"http://a@b"),
    (b"Origin", b"null"),
    (b"Origin", b"http://[::1"),
    (b"Origin", b"http://a/path"),
    (b"Sec-Fetch-Site", b"cross-site"),
    (b"Sec-Fetch-Site", b"same-origin"),
    (b"Host", b"b"),
    (b"Host", b"[::1]:99999"),
    (b"X-Forwarded-Host", b"evil"),
    (b"X-Forwarded-For", b"1.2.3.4, " * 300),
    (b"Forwarded", b'for="[' * 500),
    (b"Authorization", b"Basic \xff="),
    (b"x-fx-navigation", b"1"),
    (b"x-fx-navigation", b"2" * 500),
    (b"X-Request-Id", b"a\tb" * 100),
    (b"X-HTTP-Method-Override", b"DELETE"),
    (b"x-csrf-token", b"a.b." * 300),
    (b"Expect", b"100-continue"),
    (b"Upgrade", b"h2c"),
    (b"Connection", b"Upgrade, HTTP2-Settings"),
    (b"HTTP2-Settings", b"AAMAAABkAAQAAP__"),
    (b"User-Agent", b"\xff\x80</script>"),
    (b"traceparent", b"00-" + b"f" * 3000),
    (b"Cookie", b"sid=a; sid=b"),
)

MEDIA = (
    b"application/json", b"text/json", b"application/ld+json", b"application/x-www-form-urlencoded",
    b"multipart/form-data; boundary=x", b"text/plain", b"application/octet-stream", b"",
    b"application/json; charset=", b"multipart/form-data", b"multipart/form-data; boundary=",
    b'multipart/form-data; boundary="x', b"multipart/mixed; boundary=x", b"/" * 3000,
    b"application/x-www-form-urlencoded" + b";" * 3000, b"text/html\xff",
)  # fmt: skip
