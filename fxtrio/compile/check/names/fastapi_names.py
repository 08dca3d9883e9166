"""Names of FastAPI that do nothing in a page file, and what to write instead. Pure.

The table for people is in ``docs/guides/from-fastapi.md``; a test compares the two. What Starlette
has under the same name, such as ``HTTPException``, works.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxtrio.compile.split.python_statements import nodes_of

_ROUTER = "Write an endpoint below pages/api, or mount the FastAPI app with Mount in app.py"
_QUERY = "Read request.query_params"
_BODY = "Give the parameter of the @action a model as its type"

NAMES: dict[str, str] = {
    "FastAPI": _ROUTER,
    "APIRouter": _ROUTER,
    "Depends": "Call the function, or set request.state in a route hook",
    "Security": "Set request.state in a route hook, or use the auth plugin",
    "BackgroundTasks": "Call request.state.background.add_task(…), or enqueue(…) of fx.tasks",
    "Query": _QUERY,
    "Path": "Read request.path_params",
    "Header": "Read request.headers",
    "Cookie": "Read request.cookies",
    "Body": _BODY,
    "Form": _BODY,
    "File": "Give the parameter of the @action a model with a field of UploadFile",
}
"""Name to what to do about it, without a full stop."""


def imports_of(module: ast.Module) -> Iterator[tuple[ast.alias, str, str]]:
    """Yield each import from FastAPI that does nothing: where, the name, what to do about it."""
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "fastapi":
            for alias in node.names:
                if alias.name in NAMES:
                    yield alias, alias.name, NAMES[alias.name]
