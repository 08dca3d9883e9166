"""Spans as those of OpenTelemetry, for a collector.

The context of OpenTelemetry is a context variable as well, so what its own instrumentation or
the application begins within a part has the right parent. The names of attributes are those of
its semantic conventions, where these have one. Imports the extra ``otel``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Token
from importlib.metadata import version

import attrs
from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from fxtrio.spans import LEAVES, Span

_CARRIER = "traceparent"
_KINDS: Mapping[str, SpanKind] = {
    "request": SpanKind.SERVER,
    "query": SpanKind.CLIENT,
    "publish": SpanKind.PRODUCER,
}
_KEYS = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "rows": "db.response.returned_rows",
    "request": "fx.request_id",
}
_SERVER_ERROR = 500


def tracer_provider(name: str) -> TracerProvider:
    """Return the provider of the process: the application's, else one that exports by OTLP.

    ``name`` is the service's, unless ``OTEL_SERVICE_NAME`` or ``OTEL_RESOURCE_ATTRIBUTES`` has
    one; the other variables of OpenTelemetry's SDK hold as well. A provider is the process's,
    and stays until that ends; whoever ends an app flushes it.
    """
    known = trace.get_tracer_provider()
    if isinstance(known, TracerProvider):
        return known
    named = Resource({SERVICE_NAME: name}).merge(OTELResourceDetector().detect())
    # At the end of the process the SDK would wait for half a minute for a collector that is away.
    provider = TracerProvider(resource=Resource.create().merge(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


@attrs.frozen
class _State:
    span: trace.Span
    own: Context
    """In which its parts begin."""

    token: Token[Context] | None


class OtelListener:
    """Begins and ends a span of OpenTelemetry with each of ours."""

    def __init__(self, provider: trace.TracerProvider) -> None:
        self._tracer = provider.get_tracer("fxtrio", version("fxtrio"))
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, span: Span) -> None:
        """Begin a span below its parent's; a root below what its ``traceparent`` names."""
        parent: _State | None = None if span.parent is None else span.parent.states[self]
        if parent is not None:
            around = parent.own
        else:
            around = self._propagator.extract({_CARRIER: span.carried or ""}, Context())
        began = self._tracer.start_span(
            _name_of(span), around, _kind_of(span), attributes=_first_attributes(span)
        )
        own = trace.set_span_in_context(began, around)
        token = None if span.kind in LEAVES else context.attach(own)
        span.states[self] = _State(began, own, token)

    def end(self, span: Span) -> None:
        """End it, with what has become known of it."""
        state: _State = span.states[self]
        ended = state.span
        if span.parent is None:
            ended.update_name(_name_of(span))
        for key, value in span.values.items():
            ended.set_attribute(_KEYS.get(key, f"fx.{key}"), value)
        status = span.values.get("status", 0)
        if span.error is not None:  # without its message, which may hold anything
            ended.set_attribute("error.type", span.error)
            ended.set_status(Status(StatusCode.ERROR))
        elif isinstance(status, int) and status >= _SERVER_ERROR:
            ended.set_attribute("error.type", str(status))
            ended.set_status(Status(StatusCode.ERROR))
        ended.end()
        if state.token is not None:
            context.detach(state.token)

    def carry(self, span: Span) -> str | None:
        """Return the ``traceparent`` by which a job continues the trace."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, span.states[self].own)
        return carrier.get(_CARRIER)


def _kind_of(span: Span) -> SpanKind:
    if span.kind == "job":
        return SpanKind.CONSUMER
    return _KINDS.get(span.kind, SpanKind.INTERNAL)


def _name_of(span: Span) -> str:
    if span.kind == "request":
        return span.name
    if span.kind == "query":  # the whole statement is an attribute
        return f"query {span.name.partition(' ')[0]}"
    return f"{span.kind} {span.name}"


def _first_attributes(span: Span) -> dict[str, str | int]:
    """Return the attributes with which a span starts, on which samplers may decide."""
    found: dict[str, str | int] = {"fx.part": span.kind}
    if span.kind == "query":
        found["db.query.text"] = span.name
    file, colon, line = span.place.rpartition(":")
    if colon and line.isdecimal():
        found["code.file.path"] = file
        found["code.line.number"] = int(line)
    return found
