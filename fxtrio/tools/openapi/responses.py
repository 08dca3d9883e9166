"""What actions and endpoints answer when they do not succeed, as the runtime sends it.

The shapes are those of `fxtrio.serve.request.response.error_response`; a test compares them with
responses.
"""

from __future__ import annotations

from typing import Any

from fxtrio.tools.openapi.schemas import Schema, reference

FAILURE = "fx.Failure"
INVALID = "fx.InvalidBody"

_FIELDS: Schema = {
    "type": "object",
    "description": "The path of a field, such as items.0.price, to its messages.",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}

SCHEMAS: dict[str, Schema] = {
    FAILURE: {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean", "const": False},
            "error": {"type": "string", "description": "The error message."},
            "data": {"type": "object", "additionalProperties": {}},
            "fields": _FIELDS,
            "redirect": {
                "type": "string",
                "description": "The URL that the visitor is redirected to.",
            },
        },
        "required": ["ok", "error"],
    },
    INVALID: {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean", "const": False},
            "error": {"type": "string"},
            "data": {"type": "object", "additionalProperties": {}},
            "fields": _FIELDS,
        },
        "required": ["ok", "error", "fields"],
    },
}
"""With names that no class can have."""

_RETRY = {
    "Retry-After": {
        "description": "How long to wait before another attempt (seconds).",
        "schema": {"type": "integer"},
    }
}


def _refusal(text: str, **more: Any) -> dict[str, Any]:
    name = more.pop("schema", FAILURE)
    return {
        "description": text,
        **more,
        "content": {"application/json": {"schema": reference(name)}},
    }


RESPONSES: dict[str, dict[str, Any]] = {
    "BadRequest": _refusal("The request cannot be read, or is rejected by the application."),
    "SignedOut": _refusal("Nobody is signed in."),
    "Forbidden": _refusal("The CSRF check failed, or the application denies the request."),
    "NotFound": _refusal("Not found."),
    "TooSlow": _refusal("The body took too long to arrive."),
    "TooLarge": _refusal("The body is too large."),
    "WrongMediaType": _refusal("The media type of the body is not supported."),
    "Invalid": _refusal("The body is invalid.", schema=INVALID),
    "TooMany": _refusal("Too many requests.", headers=_RETRY),
    "Defect": _refusal("An unexpected error."),
    "Busy": _refusal("The server is busy.", headers=_RETRY),
    "Late": _refusal("The request timed out."),
    "Failure": _refusal("Any other failure."),
}


def answers(statuses: dict[int, str]) -> dict[str, Any]:
    """Return references to answers, by status; ``default`` is there always."""
    named = {str(status): name for status, name in sorted(statuses.items())}
    return {
        status: {"$ref": f"#/components/responses/{name}"}
        for status, name in {**named, "default": "Failure"}.items()
    }
