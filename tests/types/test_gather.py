"""What a page's Python half gives, as it is annotated."""

from __future__ import annotations

from pathlib import Path

import trio

from fxtrio.compile.project import check_project
from fxtrio.config import load_config
from fxtrio.tools.types.gather.gatherer_process import project_types
from fxtrio.tools.types.gather.page_types import ProjectTypes, dump_types, load_types
from fxtrio.tools.types.python.shapes import ObjectShape
from fxtrio.tools.types.ui.action_types import action_declarations
from fxtrio.tools.types.ui.client_types import page_module
from fxtrio.tools.types.ui.typescript import Printer

VIEW = "\n\nexport default function View() {\n  return <p />;\n}\n"


async def types_of(root: Path, files: dict[str, str]) -> ProjectTypes:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + (VIEW if name.endswith(".fxl") else ""), "utf-8")
    project = check_project(root, load_config(root))
    assert project.problems == ()
    with trio.fail_after(60):
        return await project_types(root, project)


async def test_annotated_loaders_and_actions(tmp_path: Path) -> None:
    page = '''"""A page."""

from datetime import date
from typing import TypedDict

import attrs
from pydantic import BaseModel, Field


@attrs.frozen
class Note:
    title: str
    due: date | None = None
    _secret: str = ""


class Data(TypedDict):
    notes: list[Note]
    count: int


class New(BaseModel):
    title: str
    due: date | None = Field(None, alias="dueOn")


class Made(TypedDict):
    id: int


@server
async def load(request) -> Data:
    return {"notes": [], "count": 0}


@action
async def write(request, *, new: New) -> Made:
    return {"id": 1}
'''
    types = await types_of(tmp_path, {"pages/notes/[id]/[...rest].fxl": page})
    [found] = types.pages
    printer = Printer()

    assert (found.pattern, [one.name for one in found.params]) == (
        "/notes/[id]/[...rest]",
        ["id", "rest"],
    )
    assert printer.type(found.data) == "Data"
    assert printer.definitions(found.definitions).splitlines() == [
        "interface Data { notes: Note[]; count: number }",
        "interface Made { id: number }",
        "interface NewInput { title: string; dueOn?: string | null }",
        "interface Note { title: string; due: string | null }",
    ]
    [write] = found.actions
    assert (write.fields, write.closed) == (("title", "dueOn"), True)
    [data, _, new, note] = found.definitions
    places = [
        (key.name, key.place)
        for one in (data, new, note)
        if isinstance(one.shape, ObjectShape)
        for key in one.shape.keys
    ]
    assert [(name, place.line, place.column) for name, place in places if place] == [
        ("notes", 18, 5),
        ("count", 19, 5),
        ("title", 23, 5),
        ("dueOn", 24, 5),
        ("title", 12, 5),
        ("due", 13, 5),
    ]
    assert load_types(dump_types(types)) == types


async def test_layouts_pass_their_data_to_the_pages_inside(tmp_path: Path) -> None:
    layout = """from typing import TypedDict


class {name}(TypedDict):
    user: {user}
    {own}: int


@server
async def load(request) -> {name}:
    return {{"user": None, "{own}": 1}}
"""
    types = await types_of(
        tmp_path,
        {
            "pages/layout.fxl": layout.format(name="Outer", user="str | None", own="outer"),
            "pages/blog/layout.fxl": layout.format(name="Inner", user="int", own="inner"),
            "pages/blog/index.fxl": "",
            "pages/index.fxl": "",
        },
    )
    type_texts = {page.source: Printer().type(page.layout_data) for page in types.pages}

    assert type_texts == {
        "pages/blog/index.fxl": "{ user: number; outer: number; inner: number }",
        "pages/blog/layout.fxl": "{ user: number; outer: number; inner: number }",
        "pages/index.fxl": "{ user: string | null; outer: number }",
        "pages/layout.fxl": "{ user: string | null; outer: number }",
    }


async def test_a_deferred_value_is_a_promise(tmp_path: Path) -> None:
    deferred = """
from typing import TypedDict
from fx.runtime import Deferred, defer

async def find(id: int) -> list[str]:
    return [str(id)]

async def count():
    return 3

class Data(TypedDict):
    reviews: Deferred[list[str] | None]

@server
async def load(request){annotation}:
    return {{"reviews": defer(find, 1), "count": defer(count)}}
"""
    types = await types_of(
        tmp_path,
        {
            "pages/index.fxl": deferred.format(annotation=""),
            "pages/annotated.fxl": deferred.format(annotation=" -> Data"),
        },
    )
    type_texts = {page.source: Printer().type(page.data) for page in types.pages}

    assert type_texts == {
        "pages/index.fxl": "{ reviews: Promise<string[]>; count: Promise<number> }",
        "pages/annotated.fxl": "Data",
    }
    assert "reviews: Promise<string[] | null>" in Printer().definitions(types.pages[0].definitions)


async def test_an_action_that_streams_is_typed_by_what_it_yields(tmp_path: Path) -> None:
    page = """from collections.abc import AsyncIterator
from typing import TypedDict


class Token(TypedDict):
    text: str


@action
async def ask(request) -> AsyncIterator[Token | str]:
    yield {"text": "a"}


@action
async def plain(request):
    yield 1
"""
    found = (await types_of(tmp_path, {"pages/index.fxl": page})).page("pages/index.fxl")
    assert found is not None
    printer = Printer.of(found.definitions, loose=False)
    declared = "\n".join(action_declarations(found.actions, printer))
    assert '"ask": { payload: any; result: { data: any }; value: Token | string;' in declared
    assert '"plain": { payload: any; result: { data: any }; value: number;' in declared


async def test_a_stream_is_typed_by_what_its_events_hold(tmp_path: Path) -> None:
    page = """from collections.abc import AsyncIterator
from typing import TypedDict

import attrs
from fx.realtime import Event, Missed


class Note(TypedDict):
    text: str


@attrs.frozen
class Query:
    room: str
    old: bool = False


@stream
async def feed(request, query: Query, after: str | None = None) -> AsyncIterator[
    Event[Note] | Missed
]:
    yield Event({"text": "a"}, None)


@stream
async def numbers(request) -> AsyncIterator[int | None]:
    yield 1
"""
    found = (await types_of(tmp_path, {"pages/index.fxl": page})).page("pages/index.fxl")
    assert found is not None
    declared = page_module(found, 0, None, "strict")
    assert '"feed": { value: Note; query: Query' in declared
    assert '"numbers": { value: number | null; query: undefined }' in declared


async def test_front_matter_is_typed_by_the_classes_of_its_pages(
    tmp_path: Path,
) -> None:
    model = """from dataclasses import dataclass, field
from datetime import date


@dataclass
class FrontMatter:
    title: str
    day: date
    tags: list[str] = field(default_factory=list)
"""
    old = "import attrs\n\n\n@attrs.frozen\nclass FrontMatter:\n    old: bool\n"
    files = {
        "pages/layout.fxl": "",
        "pages/index.fxl": "",
        "pages/any/layout.fxl": "",
        "pages/any/a.md": "# A",
        "pages/docs/layout.fxl": "",
        "pages/docs/content.py": model,
        "pages/docs/a.md": "---\ntitle: A\nday: 2024-03-01\n---\n",
        "pages/docs/old/content.py": old,
        "pages/docs/old/b.md": "---\nold: true\n---\n",
    }
    types = await types_of(tmp_path, files)

    def line_of(source: str) -> str:
        found = types.page(source)
        assert found is not None
        declared = page_module(found, 0, None, "strict").splitlines()
        return next((line for line in declared if "useContent" in line), "")

    assert line_of("pages/layout.fxl") == line_of("pages/any/layout.fxl") == ""
    assert line_of("pages/index.fxl") == ""
    line = line_of("pages/docs/layout.fxl")
    assert line.startswith("export function useContent<T = FrontMatter")
    assert line.endswith(">(): base.Content<T> | null;")
    assert " | " in line.partition(">()")[0]
    docs = types.page("pages/docs/layout.fxl")
    assert docs is not None
    written = Printer.of(docs.definitions).definitions(docs.definitions, prefix="")
    assert "day: string;" in written
    assert "tags?: string[]" in written
    assert "old: boolean" in written


async def test_a_function_that_cannot_be_read_takes_no_types_away(tmp_path: Path) -> None:
    broken = """
class Refusing(type):
    def __eq__(cls, other):
        raise ValueError("not to be compared")

    __hash__ = type.__hash__


class Odd(metaclass=Refusing):
    pass


@server
async def load(request) -> Odd | None:
    return Odd()


@action
async def write(request, *, new: Odd) -> Odd:
    return new


@stream
async def watch(request, *, asked: Odd):
    yield Odd()
"""
    fine = '@server\nasync def load(request):\n    return {"n": 1}\n'
    types = await types_of(tmp_path, {"pages/broken.fxl": broken, "pages/fine.fxl": fine})
    pages = types.by_source()

    assert Printer().type(pages["pages/fine.fxl"].data) == "{ n: number }"
    assert Printer().type(pages["pages/broken.fxl"].data) == "any"
    assert Printer().type(pages["pages/broken.fxl"].actions[0].result) == "any"


async def test_a_text_that_is_no_unicode_is_what_the_server_sends(tmp_path: Path) -> None:
    page = """@server
async def load(request):
    return {"half": "\\ud800", "\\udfff": 1}
"""
    types = await types_of(tmp_path, {"pages/index.fxl": page})

    [found] = load_types(dump_types(types)).pages
    assert Printer().type(found.data) == '{ half: string; "\\ufffd": number }'


MODELS = """from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

from pydantic import BaseModel

Kind = TypeVar("Kind")


class Mark(Enum):
    NEW = "new"


class Branch(BaseModel):
    mark: Mark
    leaves: list[Leaf] = []
    branches: list[Branch] = []


class Leaf(BaseModel):
    mark: Mark
    on: Branch | None = None


class Box(BaseModel, Generic[Kind]):
    inside: Kind
    leaf: Leaf
"""


async def test_a_model_has_one_name_wherever_it_is(tmp_path: Path) -> None:
    page = """from models import Box, Branch, Leaf


@server
async def load(request) -> {data}:
    return {{}}


@action
async def add(request, branch: Branch) -> {result}:
    return {{}}
"""
    types = await types_of(
        tmp_path,
        {
            "models.py": MODELS,
            "pages/index.fxl": page.format(data="Leaf", result="Box[int]"),
            "pages/next.fxl": page.format(data="Box[Leaf]", result="dict[str, Branch]"),
        },
    )
    named = {
        one.name: Printer().type(one.shape) for page in types.pages for one in page.definitions
    }
    assert named == {
        "Box_Leaf_": "{ inside: Leaf; leaf: Leaf }",
        "Box_int_": "{ inside: number; leaf: Leaf }",
        "Branch": "{ mark: Mark; leaves: Leaf[]; branches: Branch[] }",
        "BranchInput": "{ mark: MarkInput; leaves?: LeafInput[]; branches?: BranchInput[] }",
        "Leaf": "{ mark: Mark; on: Branch | null }",
        "LeafInput": "{ mark: MarkInput; on?: BranchInput | null }",
        "Mark": '"new"',
        "MarkInput": '"new"',
    }


GENERIC = """import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.dataclasses import dataclass as checked
from typing_extensions import TypedDict

Kind = TypeVar("Kind")


@dataclass
class Box(Generic[Kind]):
    value: Kind


class Row(TypedDict, Generic[Kind]):
    cell: Kind


@checked
class Checked(Generic[Kind]):
    own: Kind

    @model_validator(mode="after")
    def check(self):
        return self


class Style(BaseModel):
    model_config = ConfigDict(json_schema_extra={"class": "wide"})
    wide: bool

    @classmethod
    def __get_pydantic_json_schema__(cls, schema, handler):
        return json.loads(json.dumps(handler(schema)))


class Answer(BaseModel):
    boxes: tuple[Box[int], Box[str]]
    rows: tuple[Row[int], Row[str]]
    checked: tuple[Checked[int], Checked[str]]
    style: Style


class Other(BaseModel):
    box: Box[str]
    row: Row[str]
"""


async def test_a_generic_class_in_a_model_is_a_type_for_each_of_its_arguments(
    tmp_path: Path,
) -> None:
    page = """from models import Answer, Other


@server
async def load(request) -> {data}:
    return {{}}
"""
    types = await types_of(
        tmp_path,
        {
            "models.py": GENERIC,
            "pages/index.fxl": page.format(data="Answer"),
            "pages/next.fxl": page.format(data="Other"),
        },
    )
    named = {
        one.name: Printer().type(one.shape) for page in types.pages for one in page.definitions
    }
    assert named == {
        "Answer": "{ boxes: [Box, Box2]; rows: [Row, Row2]; checked: [Checked, Checked2]; "
        "style: Style }",
        "Box": "{ value: number }",
        "Box2": "{ value: string }",
        "Checked": "{ own: number }",
        "Checked2": "{ own: string }",
        "Other": "{ box: Box2; row: Row2 }",
        "Row": "{ cell: number }",
        "Row2": "{ cell: string }",
        "Style": "{ wide: boolean }",
    }
