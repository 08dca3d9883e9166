"""Tests of the start page. Run them with `pytest`."""

from pathlib import Path

from fx.testing import Faults, open_app, simulate

ROOT = Path(__file__).parents[1]


async def test_a_new_note_is_on_the_page():
    async with open_app(ROOT) as client:
        added = await client.action("/", "add_note", {"text": "Buy milk"})
        page = await client.load_page("/")

    assert added.ok
    assert page.data["notes"][0]["text"] == "Buy milk"


async def test_a_note_needs_text():
    async with open_app(ROOT) as client:
        rejected = await client.action("/", "add_note", {"text": " "})

    assert rejected.fields == {"text": ["Write something first."]}


# Each seed runs the steps in a different order, and disconnects different visitors.
@simulate(ROOT, seeds=20, faults=Faults(kill=0, shutdown=0))
async def test_no_note_is_lost_when_several_visitors_write(world):
    added = []

    async def write(text):
        result = await world.client().action("/", "add_note", {"text": text})
        if result.ok:
            added.append(text)

    async with world.visitors() as visitors:
        for text in ("Ada's", "Bob's", "Cleo's"):
            visitors.start_soon(write, text)

    page = await world.client().load_page("/")
    assert {note["text"] for note in page.data["notes"]} >= set(added)
