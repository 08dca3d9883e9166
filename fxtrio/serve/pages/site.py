"""The state of an app that is fixed at startup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, overload
from urllib.parse import quote

import msgspec
from msgspec.structs import replace
from starlette.requests import HTTPConnection

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.config import Config
from fxtrio.manifest import ApiRoute, Manifest, PageRoute, manifest_below
from fxtrio.markdown import HtmlConverter
from fxtrio.markdown.paths import MEDIA_TYPE, llms_link
from fxtrio.opaque import Opaque
from fxtrio.policy.routes import Policies, make_policies
from fxtrio.routes import MatchedRoute, RouteKind, Router, folder_router
from fxtrio.serve.pages.functions.endpoint_code import EndpointCode, endpoint_code
from fxtrio.serve.pages.functions.server_functions import PageCode
from fxtrio.serve.pages.functions.shared_actions import SharedAction, shared_actions
from fxtrio.serve.pages.html.document import DocumentFrame, document_frame
from fxtrio.serve.pages.html.large import LargePages
from fxtrio.serve.pages.html.render_cache import RenderCache
from fxtrio.serve.pages.markdown.sources import SiteMarkdown
from fxtrio.serve.pages.payload import PayloadEncoder, encode_requested
from fxtrio.serve.pages.plan import ViewPlan, plan_renumbered, plan_view
from fxtrio.serve.request.audience import SingleVisitor
from fxtrio.serve.request.client_protocol import NAVIGATION, PAYLOAD
from fxtrio.serve.request.csrf import CsrfTokens
from fxtrio.serve.request.csrf_proof import Proof
from fxtrio.serve.request.event import RequestTerms
from fxtrio.serve.request.hooks import Hooks
from fxtrio.serve.request.response.response import (
    NO_STORE,
    Entropy,
    Header,
    StandardHeaders,
    encoded,
    standard_headers,
)


class Site(Opaque, msgspec.Struct, frozen=True, eq=False):
    """One app, as it was built and configured. Its open resources are in `Running`."""

    config: Config
    manifest: Manifest
    codes: Mapping[str, PageCode]
    plans: tuple[ViewPlan, ...]
    """By view id."""

    frames: Sequence[DocumentFrame]
    """By view id."""

    route_names: Mapping[str, bytes]
    """Route pattern to its JSON."""

    matched: Mapping[tuple[RouteKind, str], MatchedRoute]
    """Kind and pattern of a route to the matched route for hooks."""

    matched_actions: Mapping[tuple[str, str], MatchedRoute]
    """Pattern of a page and name of an action to the matched route for hooks."""

    matched_streams: Mapping[tuple[str, str], MatchedRoute]
    """The same for each `@stream`."""

    shared_actions: Mapping[str, SharedAction]
    """Actions of modules, by their qualified names: ``shared.delete``."""

    router: Router[PageRoute | ApiRoute]
    """Pages and endpoints, without the base URL."""

    not_found: Router[int]
    """Innermost folder of a URL to its not-found view."""

    endpoints: Mapping[str, EndpointCode]
    """By source."""

    hooks: Hooks
    standard: StandardHeaders
    proof: Proof
    markdown: SiteMarkdown | None
    """The Markdown side; None when `llms` is off."""

    policies: Policies | None
    """The settings of single routes; None if there are none."""

    vary: Header
    """The `Vary` header: on what a page's representation depends besides its URL."""

    html_lines: tuple[bytes, ...]
    """The headers of HTML responses, encoded: the nonce goes between each two parts of them.

    One leads agents from pages to `/llms.txt`, where there is one.
    """

    payload_lines: bytes
    """The headers of payloads, encoded."""

    markdown_lines: bytes
    """The headers of pages as Markdown, encoded."""

    encoder: PayloadEncoder
    render_cache: RenderCache | None
    large: LargePages
    entropy: Entropy
    terms: RequestTerms
    """The state that all requests share."""

    nonce: bytes
    """Placeholder for nonces, known to this process alone; empty without a policy."""

    development: bool
    """Whether clients see the details of errors."""

    root: str = ""
    """The path that the app is mounted at, by the server or another app: ``root_path``."""

    @property
    def base_url(self) -> str:
        """The path under which everything is served: where it is mounted, then the setting."""
        return self.root + self.config.base_url


def make_site(
    config: Config,
    manifest: Manifest,
    codes: Mapping[str, PageCode],
    endpoints: Mapping[str, Mapping[str, Any]],
    hooks: Hooks,
    *,
    root: Path,
    llms: Mapping[str, Mapping[str, Any]],
    actions: Mapping[str, Mapping[str, Any]],
    session_of: Callable[[HTTPConnection], str | None],
    before: Site | None = None,
) -> Site:
    """Build a site from the manifest and the imported modules.

    ``root`` is the project folder; ``endpoints``, ``llms`` and ``actions`` are the namespaces of
    the endpoints, `llms.py` files and action modules, by source. ``before`` is the site that this
    one replaces, with the same settings: what stays is taken from it. Raises PageCodeInvalid.
    """
    entropy = Entropy()
    routes: tuple[PageRoute | ApiRoute, ...] = (*manifest.routes, *manifest.api)
    nonce = b"" if config.csp == "off" else entropy.hex().encode()
    plans = _plans(manifest, codes, config, () if before is None else before.plans)
    markdown = _markdown(config, manifest, plans, root=root, llms=llms)
    standard = standard_headers(csp=config.csp, base_url=config.base_url)
    keys = tuple(key.encode() for key in config.secret_keys)
    vary = _vary(config)
    return Site(
        config=config,
        manifest=manifest,
        codes=codes,
        plans=plans,
        frames=_frames(manifest, config, nonce),
        route_names=_route_names(routes, {} if before is None else before.route_names),
        matched=_matched(manifest, {} if before is None else before.matched),
        matched_actions=_matched_actions(manifest, plans),
        matched_streams=_matched_streams(manifest, plans),
        shared_actions=shared_actions(manifest.actions, actions, config),
        router=Router((route.pattern, route) for route in routes),
        not_found=folder_router(manifest.not_found),
        endpoints={source: endpoint_code(source, names) for source, names in endpoints.items()},
        hooks=hooks,
        standard=standard,
        proof=Proof(config.csrf, CsrfTokens(keys), session_of, entropy),
        markdown=markdown,
        policies=make_policies(config),
        vary=vary,
        html_lines=_html_lines(standard, vary, config.base_url, markdown),
        payload_lines=encoded([(b"content-type", PAYLOAD), NO_STORE, vary]),
        markdown_lines=encoded([(b"content-type", MEDIA_TYPE.encode()), NO_STORE, vary]),
        encoder=PayloadEncoder(),
        render_cache=RenderCache(capacity=config.ssr.memo_bytes, age=config.ssr.memo_age)
        if config.ssr.memo
        else None,
        large=LargePages(),
        entropy=entropy,
        terms=_terms(config, standard, entropy, SingleVisitor(entropy, bool(nonce))),
        nonce=nonce,
        development=manifest.mode == "development",
    )


def site_with(
    site: Site,
    codes: Mapping[str, PageCode],
    endpoints: Mapping[str, Mapping[str, Any]],
    hooks: Hooks,
    *,
    root: Path,
    llms: Mapping[str, Mapping[str, Any]],
    actions: Mapping[str, Mapping[str, Any]],
) -> Site:
    """Return ``site`` with other code, of the same manifest: see `make_site`.

    For development. What the manifest alone decides is not made again: in a large app that takes
    longer than all else of a save.
    """
    manifest, config = site.manifest, site.config
    plans = _plans(manifest, codes, config, site.plans)
    return replace(
        site,
        codes=codes,
        plans=plans,
        matched_actions=_matched_actions(manifest, plans),
        matched_streams=_matched_streams(manifest, plans),
        shared_actions=shared_actions(manifest.actions, actions, config),
        endpoints={source: endpoint_code(source, names) for source, names in endpoints.items()},
        hooks=hooks,
        markdown=_markdown(config, manifest, plans, root=root, llms=llms),
        large=LargePages(),
    )


def site_below(site: Site, root: str) -> Site:
    """Return ``site`` as it is where the app is mounted at the path ``root``."""
    base_url = root + site.config.base_url
    encoded_url = quote(base_url, safe=SAFE_IN_PATHS)
    manifest = manifest_below(site.manifest, quote(root, safe=SAFE_IN_PATHS), base_url=encoded_url)
    standard = standard_headers(csp=site.config.csp, base_url=encoded_url)
    return replace(
        site,
        root=root,
        manifest=manifest,
        plans=_plans(manifest, site.codes, site.config),
        frames=_frames(manifest, site.config, site.nonce),
        hooks=replace(site.hooks, base_url=base_url),
        standard=standard,
        html_lines=_html_lines(standard, site.vary, encoded_url, site.markdown),
        terms=replace(site.terms, base_url=base_url, standard=standard),
    )


def _plans(
    manifest: Manifest,
    codes: Mapping[str, PageCode],
    config: Config,
    before: tuple[ViewPlan, ...] = (),
) -> tuple[ViewPlan, ...]:
    known = {(plan.view.module, plan.view.layouts): plan for plan in before}
    plans = []
    for view in manifest.views:
        plan = known.get((view.module, view.layouts))
        if (
            plan is not None
            and plan.view.client == view.client
            and all(codes[code.module.source] is code for code in plan.chain)
        ):
            plans.append(plan_renumbered(plan, view, lang=config.lang))
        else:
            plans.append(plan_view(view, codes, name=config.name, lang=config.lang))
    return tuple(plans)


def _frames(manifest: Manifest, config: Config, nonce: bytes) -> Sequence[DocumentFrame]:
    """Return the frame of each view; in development, where they come and go, when it is used."""
    make = partial(document_frame, assets=manifest.assets, lang=config.lang, nonce=nonce)
    if manifest.mode == "development":
        return LazySequence(make, manifest.views)
    return tuple(map(make, manifest.views))


def _terms(
    config: Config, standard: StandardHeaders, entropy: Entropy, audience: SingleVisitor
) -> RequestTerms:
    return RequestTerms(
        base_url=config.base_url,
        entropy=entropy,
        standard=standard,
        audience=audience,
        with_ids=config.observability.enabled,
        trust_incoming_ids=config.observability.trust_incoming_request_id,
        timeout=config.timeouts.request,
    )


def _markdown(
    config: Config,
    manifest: Manifest,
    plans: tuple[ViewPlan, ...],
    *,
    root: Path,
    llms: Mapping[str, Mapping[str, Any]],
) -> SiteMarkdown | None:
    """Return the Markdown side, if there is one."""
    if not config.llms.enabled:
        return None
    return SiteMarkdown(
        manifest,
        plans,
        root=root,
        pages_dir=config.pages_dir,
        converter=HtmlConverter(config.llms.max_html) if config.llms.auto_convert else None,
        llms=llms,
    )


def _html_lines(
    standard: StandardHeaders, vary: Header, base_url: str, markdown: SiteMarkdown | None
) -> tuple[bytes, ...]:
    link = (b"link", llms_link(base_url).encode()) if markdown is not None else None
    return standard.html_lines(vary, link)


def _vary(config: Config) -> Header:
    forms = [NAVIGATION.decode()]
    if config.llms.enabled:
        forms.append("accept")
    if config.compression != "off":
        forms.append("accept-encoding")
    return b"vary", ", ".join(forms).encode()


def _matched_actions(
    manifest: Manifest, plans: tuple[ViewPlan, ...]
) -> dict[tuple[str, str], MatchedRoute]:
    """Return the matched route of each action, by the pattern of its page and its name."""
    found = {}
    for route in manifest.routes:
        inner = plans[route.view].inner
        for name in inner.actions:
            source = inner.module.source
            found[route.pattern, name] = MatchedRoute(
                kind="action", pattern=route.pattern, source=source, action=name
            )
    return found


def _matched_streams(
    manifest: Manifest, plans: tuple[ViewPlan, ...]
) -> dict[tuple[str, str], MatchedRoute]:
    """Return the matched route of each stream, by the pattern of its page and its name."""
    return {
        (route.pattern, name): MatchedRoute(
            kind="stream", pattern=route.pattern, source=stream.source, stream=name
        )
        for route in manifest.routes
        for name, stream in plans[route.view].inner.streams.items()
    }


def _route_names(
    routes: Iterable[PageRoute | ApiRoute], before: Mapping[str, bytes]
) -> dict[str, bytes]:
    return {
        route.pattern: before.get(route.pattern) or encode_requested(route.pattern)
        for route in routes
    }


def _matched(
    manifest: Manifest, before: Mapping[tuple[RouteKind, str], MatchedRoute]
) -> dict[tuple[RouteKind, str], MatchedRoute]:
    """Return the matched route of each pattern and kind, built once instead of per request."""
    pages: tuple[RouteKind, ...] = ("page", "markdown", "websocket")
    endpoints: tuple[RouteKind, ...] = ("api", "websocket")
    sources = [(pages, each.pattern, manifest.views[each.view].module) for each in manifest.routes]
    sources += [(endpoints, each.pattern, each.source) for each in manifest.api]
    return {
        (kind, pattern): known
        if (known := before.get((kind, pattern))) is not None and known.source == source
        else MatchedRoute(kind=kind, pattern=pattern, source=source)
        for kinds, pattern, source in sources
        for kind in kinds
    }


From = TypeVar("From")
Item = TypeVar("Item")


class LazySequence(Sequence[Item], Generic[From, Item]):
    """What ``make`` returns for each of ``sources``, called when an item is used first.

    For development: there a save replaces the whole site, and few of its pages are requested
    before the next save.
    """

    def __init__(self, make: Callable[[From], Item], sources: Sequence[From]) -> None:
        """``make`` has to return the same for the same source."""
        self._make = make
        self._sources = sources
        self._items: dict[int, Item] = {}

    def __len__(self) -> int:
        """Return how many there are, created or not."""
        return len(self._sources)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        """Return one item, counted from 0; raises IndexError as a tuple does."""
        if isinstance(index, slice):
            return tuple(self[one] for one in range(*index.indices(len(self))))
        if index not in self._items:
            self._items[index] = self._make(self._sources[index])
        return self._items[index]
