"""Settings of Pyxle, and what stands for them here. Pure.

The table for people is in ``docs/guides/from-pyxle.md``; a test compares the two.
"""

from __future__ import annotations

_OPTIONS = "Write 'fx serve --host … --port …'"
_HASHED = "Leave it out: hashed files are cached for a year; 'cacheControl' is for public ones"
_TOKEN = "Leave it out: the cookie and the header of the token have fixed names"
_LOG = 'Set \'observability.accessLog\' to "console" or "json"'
_METRICS = 'Write "observability": {"metrics": "/metrics"}, with the extra fxtrio[metrics]'
_OTEL = 'Write "observability": {"tracing": "otel"}, with the extra fxtrio[otel]'

SETTINGS: dict[str, str] = {
    "buildDir": "Leave it out: the build is in '.fx/build'",
    "starlette": _OPTIONS,
    "vite": "Leave it out: 'fx dev' has one port for all",
    "debug": "Leave it out: 'fx dev' shows errors, and 'fx serve' does not",
    "styling": "Import the stylesheets in pages/layout.fxl",
    "assets": _HASHED,
    "navigation": "Leave it out: 'CACHE' of a page says how long its data is fresh",
    "rateLimit": 'Write "rateLimits": [{"route": "/*", "limit": "100/minute"}]',
    "studio": "Leave it out: Studio is at /__fx/ in 'fx dev', and a plugin in production",
    "dev.watch": "Leave it out: the whole project is watched",
    "csrf.cookieName": _TOKEN,
    "csrf.headerName": _TOKEN,
    "csrf.cookieSecure": "Leave it out: the cookie is secure over HTTPS",
    "csrf.cookieSameSite": _TOKEN,
    "observability.requestId": "Write 'observability.enabled'",
    "observability.requestIdHeader": "Leave it out: the header is X-Request-Id",
    "observability.timing": _LOG,
    "observability.logFormat": _LOG,
    "observability.logLevel": "Set the level of the logger 'fx' in Python's logging",
    "observability.metricsEndpoint": _METRICS,
    "observability.metricsEndpointPath": _METRICS,
    "observability.metricsEndpointToken": "Name a function in 'observability.metricsGuard'",
    "observability.otel": _OTEL,
    "observability.otelServiceName": "Set OTEL_SERVICE_NAME in the environment",
    "observability.otelSampleRatio": "Set OTEL_TRACES_SAMPLER and its argument in the environment",
}
"""Path of a setting to what to do about it, without a full stop."""

PLUGINS = {
    "pyxle-auth": "Write 'auth'",
    "pyxle-db": "Leave it out, and set 'database.url'",
    "pyxle-mail": "Leave it out, and send mail with smtplib in a durable job",
}
"""Name of a plugin to what to do about it, without a full stop."""


def setting_remedy(path: str) -> str:
    """Return what to do about a setting of Pyxle, without a full stop; "" for any other."""
    section, _, key = path.partition(".")
    if section == "cache" and key.startswith("/"):
        return f'Write "cacheControl": {{"{key}": "public, s-maxage=…"}}'
    return SETTINGS.get(path, "")
