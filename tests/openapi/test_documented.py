"""`documented` adds to the document what the code does not show."""

from __future__ import annotations

from pathlib import Path

from tests.openapi.test_document import document_of
from tests.trees import page, write_tree

FILES = {
    "pages/index.fxl": page(
        """
        from fx.openapi import documented

        @action
        @documented(responses={409: "It is there already."})
        async def add(request):
            return {}
        """
    ),
    "pages/api/books.py": """
        from enum import Enum

        import attrs
        from fx.openapi import documented

        class Order(Enum):
            NEW = "new"
            OLD = "old"

        @attrs.frozen
        class Filter:
            word: str
            order: Order = Order.NEW
            page: int = 1

        @documented(query=Filter, responses={404: "No such shop."})
        async def get(request) -> list[str]:
            return []

        async def post(request) -> None: ...
        """,
    "keys.py": """
        from fx.openapi import documented

        @documented(bearer=True, responses={401: "The key is wrong."})
        async def with_key(request): ...
        """,
    "fx.config.json": '{"routeMiddleware": {"apis": ["keys:with_key"]}}',
}


async def test_query_answers_and_tokens_are_in_the_document(tmp_path: Path) -> None:
    document = await document_of(write_tree(tmp_path, FILES))
    get = document["paths"]["/api/books"]["get"]
    assert [(one["name"], one["in"], one["required"]) for one in get["parameters"]] == [
        ("word", "query", True),
        ("order", "query", False),
        ("page", "query", False),
    ]
    schemas = {one["name"]: one["schema"] for one in get["parameters"]}
    assert schemas["order"]["enum"] == ["new", "old"]
    assert schemas["page"] == {"type": "integer", "default": 1}
    assert get["responses"]["404"] == {"description": "No such shop."}
    for method in ("get", "post"):
        operation = document["paths"]["/api/books"][method]
        assert operation["security"] == [{"bearer": []}]
        assert operation["responses"]["401"] == {"description": "The key is wrong."}
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    add = document["paths"]["/api/__actions/index/add"]["post"]
    assert add["responses"]["409"] == {"description": "It is there already."}
    assert "security" not in add
