"""Migrations: read, compared, run once."""

from __future__ import annotations

import sqlite3
from contextlib import nullcontext
from pathlib import Path

import pytest
import trio
from starlette.types import Message

from fx.db import db as current
from fx.testing import open_app
from fxtrio.app import assemble
from fxtrio.asgi_extensions import OWN_SERVER, START_REJECTED
from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from fxtrio.db import Database
from fxtrio.db.migrations.files import (
    MigrationFailed,
    MigrationsInvalid,
    MigrationsPending,
    new_migration,
    read_migrations,
)
from fxtrio.db.migrations.runner import migrate, require_migrated, runs
from fxtrio.db.migrations.scripts import Head, head_of, statements_of, transaction_control
from fxtrio.testing.open import NoRender
from fxtrio.tools.project_checks.project_files import migration_problems
from tests.db.engines import opened
from tests.trees import PAGE, write_tree

BOOKS = "create table books (id integer primary key);\ninsert into books values (1);\n"
MORE = "insert into books values (2); -- the second; and last\n"
FILES = {"migrations/0001_books.sql": BOOKS, "migrations/0002_more.sql": MORE}


async def test_each_is_run_once_and_in_order(db: Database, tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)

    first = [one.file for one in await migrate(db, tmp_path)]
    assert first == ["0001_books.sql", "0002_more.sql"]
    assert await migrate(db, tmp_path) == []
    assert await db.value("select count(*) from books") == 2
    assert [run.name for run in (await runs(db)).values()] == ["books", "more"]


async def test_the_one_for_the_engine_wins(db: Database, tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    own, other = ("sqlite", "postgresql")[:: 1 if db.dialect == "sqlite" else -1]
    write_tree(
        tmp_path,
        {
            f"migrations/0003_x.{own}.sql": "insert into books values (3);",
            f"migrations/0003_x.{other}.sql": "nonsense",
        },
    )
    await migrate(db, tmp_path)

    assert await db.value("select count(*) from books") == 3


async def test_one_that_fails_is_rolled_back_and_those_before_it_stay(
    db: Database, tmp_path: Path
) -> None:
    write_tree(tmp_path, FILES)
    write_tree(tmp_path, {"migrations/0002_more.sql": MORE + "insert into nowhere values (1);"})

    with pytest.raises(MigrationFailed, match=r"^migrations/0002_more\.sql: .*nowhere"):
        await migrate(db, tmp_path)

    assert await db.value("select count(*) from books") == 1
    write_tree(tmp_path, FILES)
    assert len(await migrate(db, tmp_path)) == 1


async def test_in_development_files_that_are_still_to_be_written_wait(
    db: Database, tmp_path: Path
) -> None:
    write_tree(tmp_path, FILES)
    for name in ("nothing here", "more books", "later"):
        new_migration(tmp_path, name)
    write_tree(tmp_path, {"migrations/0004_more_books.sql": MORE.replace("2", "3")})

    done = [one.file for one in await migrate(db, tmp_path, written=True)]

    assert done[2:] == ["0003_nothing_here.sql", "0004_more_books.sql"]
    write_tree(tmp_path, {"migrations/0005_later.sql": MORE.replace("2", "4")})
    done = [one.file for one in await migrate(db, tmp_path, written=True)]
    assert done == ["0005_later.sql"]


async def test_changed_and_removed_migrations_are_reported_before_any_runs(
    db: Database, tmp_path: Path
) -> None:
    write_tree(tmp_path, FILES)
    await migrate(db, tmp_path)
    write_tree(tmp_path, {"migrations/0001_books.sql": BOOKS.replace("\n", "  \r\n")})
    await require_migrated(db, tmp_path)  # the end of a line is no change

    write_tree(tmp_path, {"migrations/0001_books.sql": BOOKS + "--", "migrations/0003_x.sql": ";"})
    (tmp_path / "migrations/0002_more.sql").unlink()
    with pytest.raises(MigrationsInvalid) as caught:
        await migrate(db, tmp_path)

    assert [problem.file for problem in caught.value.problems] == [
        "0001_books.sql",
        "0002_more.sql",
    ]
    assert "has changed since it was run" in str(caught.value)
    assert len(await runs(db)) == 2


async def test_code_keeps_running_on_a_database_that_newer_code_has_migrated(
    db: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(tmp_path, FILES)
    await migrate(db, tmp_path)
    (tmp_path / "migrations/0002_more.sql").unlink()

    await require_migrated(db, tmp_path)
    assert await migrate(db, tmp_path) == []

    assert "newer code has run 0002_more.sql on this database" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "insert into books values (7); commit; insert into nowhere values (1);",
        "-- a commit;\n/* ; */ ROLLBACK;",
        "insert into books values (8); END;",
        "start transaction; select 1;",
    ],
)
async def test_one_that_ends_its_own_transaction_is_rejected_before_it_runs(
    db: Database, tmp_path: Path, text: str
) -> None:
    write_tree(tmp_path, FILES | {"migrations/0002_more.sql": text})
    with pytest.raises(MigrationsInvalid, match="each file is one transaction"):
        await migrate(db, tmp_path)
    assert await runs(db) == {}


async def test_one_that_is_no_transaction_runs_statement_by_statement(
    db: Database, tmp_path: Path
) -> None:
    text = "insert into books values (2);\ninsert into books values (3);"
    text += "insert into nowhere values (1);"
    if db.dialect == "postgresql":
        text = "do $$ begin perform 1; commit; end $$; " + text
        text += "create index concurrently on books (id);"
    files = FILES | {"migrations/0002_more.sql": f"-- transaction: none\n{text}"}
    write_tree(tmp_path, files)
    with pytest.raises(MigrationFailed, match=r"[23] of its [345] statements are committed"):
        await migrate(db, tmp_path)
    assert await db.value("select count(*) from books") == 3

    write_tree(
        tmp_path,
        {
            "migrations/0002_more.sql": files["migrations/0002_more.sql"]
            .replace("insert into nowhere values (1);", "")
            .replace("values (2)", "values (4)")
            .replace("values (3)", "values (5)")
        },
    )
    assert [one.file for one in await migrate(db, tmp_path)] == ["0002_more.sql"]
    assert len(await runs(db)) == 2
    if db.dialect == "sqlite":
        assert await db.value("pragma foreign_keys") == 1


def test_the_head_of_a_file_is_its_first_comments() -> None:
    assert head_of("-- Incompatible: drops a column\n\n-- transaction: none\nselect 1;") == Head(
        False, "drops a column"
    )
    assert head_of("select 1;\n-- incompatible\n-- transaction: none") == Head()
    assert head_of("-- incompatible") == Head(True, "")


def test_statements_end_where_postgresql_ends_them() -> None:
    text = """-- a; comment
    create function f() returns text language sql as $x$ select ';' $x$;
    insert into t values ('a;''b', ";", 1-1, 4/2); /* ; */ ;
    select $1"""
    assert [one.split()[-1] for one in statements_of(text)] == ["$x$", "4/2)", "$1"]
    trigger = "create trigger t after insert on a begin delete from b; end;"
    assert transaction_control(trigger) is None
    assert transaction_control("rollback to savepoint a; release a; select 'commit;'") is None


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("select a$b$c; select 1", ["select a$b$c", "select 1"]),
        ("select $$ a;b $$; select 2", ["select $$ a;b $$", "select 2"]),
        ("select $_a1$;$_a1$; select 3", ["select $_a1$;$_a1$", "select 3"]),
        ("select 1; /* without an end; select 2", ["select 1", "/* without an end; select 2"]),
        ("select 'without an end; select 2", ["select 'without an end; select 2"]),
    ],
)
def test_what_has_no_end_is_one_statement(text: str, statements: list[str]) -> None:
    assert statements_of(text) == statements


async def test_several_processes_run_each_once(engine: str, tmp_path: Path) -> None:
    if engine == "memory":  # which no other process sees
        engine = "file"
    write_tree(tmp_path, FILES)
    done: list[str] = []

    async def one() -> None:
        async with opened(engine, tmp_path) as database:
            done.extend(migration.file for migration in await migrate(database, tmp_path))

    with trio.fail_after(60):
        async with opened(engine, tmp_path) as database, trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(one)
        async with opened(engine, tmp_path) as database:
            assert await database.value("select count(*) from books") == 2

    assert sorted(done) == ["0001_books.sql", "0002_more.sql"]


async def test_one_that_waits_for_a_table_in_use_gives_up_and_may_be_run_again(
    postgres_url: str, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"migrations/0001_books.sql": BOOKS})
    with trio.fail_after(60):
        async with opened(postgres_url, tmp_path) as db, opened(postgres_url, tmp_path) as other:
            await migrate(db, tmp_path)
            write_tree(tmp_path, {"migrations/0002_alter.sql": "alter table books add n int;"})
            async with other.transaction():
                await other.value("select count(*) from books")
                with pytest.raises(MigrationFailed, match="Others held its locks"):
                    await migrate(db, tmp_path, lock_timeout=0.05)
            assert [one.file for one in await migrate(db, tmp_path)] == ["0002_alter.sql"]


def test_files_that_make_no_order_are_rejected_together(tmp_path: Path) -> None:
    names = ("1_short.sql", "0001_a.sql", "0001_b.sql", "0002_c.postgresql.sql")
    write_tree(tmp_path, {f"migrations/{name}": ";" for name in names})

    with pytest.raises(MigrationsInvalid) as caught:
        read_migrations(tmp_path, "sqlite")

    assert str(caught.value).splitlines() == [
        "migrations/1_short.sql: its name is not of the form 0001_what_it_does.sql. Rename it.",
        "migrations/0001_b.sql: 0001_a.sql and 0001_b.sql have one number. "
        "Give one of them the next number.",
        "migrations/0002_c.postgresql.sql: there is no such file for sqlite. "
        "Write 0002_c.sqlite.sql.",
    ]


def test_a_new_one_has_the_next_number(tmp_path: Path) -> None:
    first = new_migration(tmp_path, "Add notes!")
    second = new_migration(tmp_path, "search", ("sqlite", "postgresql"))

    assert [path.name for path in first + second] == [
        "0001_add_notes.sql",
        "0002_search.sqlite.sql",
        "0002_search.postgresql.sql",
    ]
    with pytest.raises(ValueError, match="no letters"):
        new_migration(tmp_path, "!")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    config = '{"database": {"url": "sqlite:///data/app.db"}}'
    return write_tree(tmp_path, FILES | {"fx.config.json": config, "pages/index.fxl": PAGE})


async def test_tests_find_them_run(project: Path) -> None:
    async with open_app(project):
        assert await current.value("select count(*) from books") == 2


async def test_fx_check_finds_a_file_that_has_changed(project: Path) -> None:
    config = load_config(project, environ={})
    assert await migration_problems(project, config, connects=True) == []
    assert not (project / "data").exists()
    async with opened("file", project) as database:
        await migrate(database, project)
    write_tree(project, {"migrations/0002_more.sql": "insert into books values (4);"})

    found = await migration_problems(project, config, connects=True)

    assert [problem.path for problem in found] == ["migrations/0002_more.sql"]
    assert "has changed since it was run as 0002_more" in str(found[0])


async def test_a_server_does_not_start_without_them(project: Path) -> None:
    async with opened("file", project) as database:
        with pytest.raises(MigrationsPending, match=r"0001_books\.sql, 0002_more\.sql have not"):
            await require_migrated(database, project)
    raw = sqlite3.connect(project / "data/app.db")
    assert raw.execute("select count(*) from sqlite_master").fetchone() == (0,)
    raw.close()


async def test_a_start_that_fails_for_a_migration_is_reported_in_one_line(project: Path) -> None:
    write_tree(project, {"migrations/0003_broken.sql": "create table books (id int);"})
    config, build = load_config(project, environ={}), project / "b"
    manifest = compile_server(project, config, build, mode="development")

    def open_renderer() -> nullcontext[NoRender]:
        return nullcontext(NoRender())

    app = assemble(project, config, build, manifest, open_renderer=open_renderer)
    sent: list[Message] = []

    async def receive() -> Message:
        await trio.lowlevel.checkpoint()
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    scope = {"type": "lifespan", "app": app, "extensions": {OWN_SERVER: {}}}
    with pytest.raises(MigrationFailed):
        await app(scope, receive, send)

    assert sent == [
        {
            "type": "lifespan.startup.failed",
            "message": "migrations/0003_broken.sql: table books already exists. "
            "It was rolled back: correct it and run 'fx db up'.",
            START_REJECTED: True,
        }
    ]
