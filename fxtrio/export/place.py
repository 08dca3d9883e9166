"""Where an exported site will be: its origin, and the path of its home page. Pure."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, urlsplit

import attrs

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.errors import PlacedError

_BASE = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@-]+)*")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


class PlaceInvalid(PlacedError):
    """``--site`` or ``--base`` names no place for a site."""

    def __init__(self, option: str, value: str, cause: str, remedy: str) -> None:
        super().__init__(f"{option} {value!r}", cause, remedy)


@attrs.frozen
class Place:
    """Where a site will be."""

    scheme: str
    host: str
    """With its port, if it has one."""

    root: str = ""
    """The path that the app is mounted at, in front of `Config.base_url`."""

    base_url: str = ""
    """The path in front of all URLs: ``root``, and the setting."""

    @property
    def server(self) -> tuple[str, int]:
        """Name or address of the host, without brackets, and its port."""
        url = urlsplit(self.origin)
        return url.hostname or "", url.port or (443 if self.scheme == "https" else 80)

    @property
    def origin(self) -> str:
        """Scheme and host."""
        return f"{self.scheme}://{self.host}"

    def url(self, path: str) -> str:
        """Return the URL of a decoded path of the app, without the origin."""
        return quote(self.base_url + path, safe=SAFE_IN_PATHS)

    def absolute(self, path: str) -> str:
        """Return the whole URL of a decoded path of the app."""
        return self.origin + self.url(path)


def place_of(site: str, base: str | None, *, base_url: str) -> Place:
    """Return the place that ``--site`` and ``--base`` name; ``base_url`` is the setting.

    Raises PlaceInvalid.
    """
    url = _origin(site)
    if url is None:
        remedy = "Write scheme and host, such as 'https://example.com'"
        raise PlaceInvalid("--site", site, "is not an origin", remedy)
    if url.path.strip("/") or url.query or url.fragment:
        remedy = f"Write --site {url.scheme}://{url.netloc} --base {url.path.rstrip('/') or '/'}"
        raise PlaceInvalid("--site", site, "has more than scheme and host", remedy)
    whole = base_url if base is None else base.rstrip("/")
    if not _BASE.fullmatch(whole) or {".", ".."} & set(whole.split("/")):
        raise PlaceInvalid("--base", whole, "is not a path", "Write one such as '/docs'")
    if not whole.endswith(base_url):
        cause = f"does not end with the setting baseUrl, {base_url!r}, which is part of every URL"
        raise PlaceInvalid(
            "--base", whole, cause, "Let it end with that path, or remove the setting"
        )
    return Place(url.scheme, url.netloc, whole.removesuffix(base_url), whole)


def _origin(site: str) -> SplitResult | None:
    """Return the parts of a URL with a scheme and a host that can be served; None for others."""
    try:
        url = urlsplit(site)
        is_port = url.port != 0  # of a number that is too large, this raises
    except ValueError:
        return None
    is_origin = url.scheme in ("http", "https") and _HOST.fullmatch(url.netloc) is not None
    return url if is_origin and is_port else None
