"""What a page's loader returns and raises, and what the client gets for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.testing import open_app
from tests.trees import LAYOUT, page, write_tree


async def test_a_loader_s_dict_reaches_the_page_and_its_navigation_payload(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    return {"message": "Hello <b>"}
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        response = await client.get("/")
        loaded = await client.load_page("/")
    assert response.status == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert '"message":"Hello \\u003cb\\u003e"' in response.text
    assert loaded.data == {"message": "Hello <b>"}
    assert loaded.payload["routePath"] == "/"


async def test_the_second_value_of_a_tuple_is_the_status(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    return {"message": "made"}, 201
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        assert (await client.get("/")).status == 201
        assert (await client.load_page("/")).status == 201


async def test_a_layout_gets_its_own_data_and_the_page_the_merged_one(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/layout.fxl": page(
                """
                @server
                async def load(request):
                    return {"user": "Ann", "theme": "dark"}
                """,
                LAYOUT,
            ),
            "pages/blog/layout.fxl": page(
                """
                @server
                async def load(request):
                    return {"theme": "light"}
                """,
                LAYOUT,
            ),
            "pages/blog/index.fxl": page(
                """
                @server
                async def load(request):
                    return {"post": 1}
                """
            ),
            "pages/index.fxl": page(""),
        },
    )
    async with open_app(tmp_path) as client:
        blog = await client.load_page("/blog")
        root = await client.load_page("/")
    assert blog.data == {"post": 1}
    assert blog.layout_data == {"user": "Ann", "theme": "light"}
    assert blog.payload["layouts"] == [{"user": "Ann", "theme": "dark"}, {"theme": "light"}]
    assert root.layout_data == {"user": "Ann", "theme": "dark"}
    assert root.payload["layouts"] == [True]


async def test_loaders_of_a_page_and_its_layout_run_at_the_same_time(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    slow = """
        import trio

        @server
        async def load(request):
            await trio.sleep(2)
            return {}
        """
    write_tree(
        tmp_path,
        {"pages/layout.fxl": page(slow, LAYOUT), "pages/index.fxl": page(slow)},
    )
    async with open_app(tmp_path) as client:
        begin = trio.current_time()
        assert (await client.get("/")).status == 200
        assert trio.current_time() - begin == 2


async def test_a_loader_that_fails_cancels_its_siblings(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/layout.fxl": page(
                """
                import trio

                @server
                async def load(request):
                    await trio.sleep(5)
                    return {}
                """,
                LAYOUT,
            ),
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    raise LoaderError("gone", 410)
                """
            ),
        },
    )
    async with open_app(tmp_path) as client:
        begin = trio.current_time()
        response = await client.get("/")
        assert response.status == 410
        assert "gone" in response.text
        assert trio.current_time() - begin < 1


async def test_a_loader_error_shows_the_nearest_boundary_with_its_layout_s_data(
    tmp_path: Path,
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/layout.fxl": page(
                """
                @server
                async def load(request):
                    return {"user": "Ann"}
                """,
                LAYOUT,
            ),
            "pages/error.fxl": page(""),
            "pages/shop/error.fxl": page(""),
            "pages/shop/[id].fxl": page(
                """
                @server
                async def load(request):
                    raise LoaderError("sold out", 409, {"sku": request.path_params["id"]})
                """
            ),
        },
    )
    async with open_app(tmp_path) as client:
        loaded = await client.load_page("/shop/7")
        document = await client.get("/shop/7")
    assert loaded.status == 409
    assert loaded.payload["ok"] is False
    assert loaded.payload["boundary"] == "pages/shop/error.fxl"
    assert loaded.payload["type"] == "LoaderError"
    assert loaded.payload["data"] == {"sku": "7"}
    assert loaded.error == "sold out"
    assert loaded.layout_data == {"user": "Ann"}
    assert document.status == 409
    assert '"error":"sold out"' in document.text


async def test_a_boundary_outside_a_layout_shows_its_failure(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/error.fxl": page(""),
            "pages/shop/error.fxl": page(""),
            "pages/shop/layout.fxl": page(
                """
                @server
                async def load(request):
                    raise LoaderError("no shop", 503)
                """,
                LAYOUT,
            ),
            "pages/shop/index.fxl": page(""),
        },
    )
    async with open_app(tmp_path) as client:
        loaded = await client.load_page("/shop")
    assert (loaded.status, loaded.payload["boundary"]) == (503, "pages/error.fxl")


async def test_a_failing_root_layout_leaves_the_root_error_page_without_layout(
    tmp_path: Path,
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/error.fxl": page(""),
            "pages/layout.fxl": page(
                """
                @server
                async def load(request):
                    raise LoaderError("no root", 500)
                """,
                LAYOUT,
            ),
            "pages/index.fxl": page(""),
        },
    )
    async with open_app(tmp_path) as client:
        loaded = await client.load_page("/")
    assert loaded.payload["boundary"] == "pages/error.fxl"
    assert loaded.payload["layouts"] == []


async def test_a_404_of_a_loader_shows_the_nearest_error_page_and_without_one_not_found(
    tmp_path: Path,
) -> None:
    missing = """
        @server
        async def load(request):
            raise LoaderError("no such thing", 404)
        """
    write_tree(
        tmp_path,
        {
            "pages/not-found.fxl": page(""),
            "pages/a.fxl": page(missing),
            "pages/shop/error.fxl": page(""),
            "pages/shop/b.fxl": page(missing),
            "pages/shop/deep/not-found.fxl": page(""),
            "pages/shop/deep/c.fxl": page(missing),
        },
    )
    async with open_app(tmp_path) as client:
        assert (await client.load_page("/a")).payload["boundary"] == "pages/not-found.fxl"
        for path in ("/shop/b", "/shop/deep/c"):
            loaded = await client.load_page(path)
            assert (loaded.status, loaded.payload["boundary"]) == (404, "pages/shop/error.fxl")
            assert loaded.payload["error"] == "no such thing"
        unmatched = await client.load_page("/nowhere")
    assert unmatched.status == 404
    assert unmatched.payload["boundary"] == "pages/not-found.fxl"
    assert unmatched.payload["type"] == "NotFound"


async def test_not_found_renders_the_nearest_not_found_page_and_without_one_an_error_page(
    tmp_path: Path,
) -> None:
    missing = """
        from fx.runtime import NotFound

        @server
        async def load(request):
            raise NotFound("no such thing", {"id": 5})
        """
    write_tree(
        tmp_path,
        {
            "pages/shop/error.fxl": page(""),
            "pages/shop/b.fxl": page(missing),
            "pages/shop/deep/not-found.fxl": page(""),
            "pages/shop/deep/error.fxl": page(""),
            "pages/shop/deep/c.fxl": page(missing),
            "pages/shop/deep/further/error.fxl": page(""),
            "pages/shop/deep/further/d.fxl": page(missing),
        },
    )
    nearest = "pages/shop/deep/not-found.fxl"
    expected = {"/shop/b": "pages/shop/error.fxl", "/shop/deep/c": nearest}
    expected["/shop/deep/further/d"] = nearest
    async with open_app(tmp_path) as client:
        for path, boundary in expected.items():
            loaded = await client.load_page(path)
            assert (loaded.status, loaded.payload["boundary"]) == (404, boundary)
            assert loaded.payload["error"] == "no such thing"
            assert (loaded.payload["type"], loaded.payload["data"]) == ("NotFound", {"id": 5})


async def test_an_error_page_that_fails_gives_way_to_the_next_and_the_built_in_one(
    tmp_path: Path,
) -> None:
    broken = """
        def HEAD(data):
            return 1 / 0
        """
    write_tree(
        tmp_path,
        {
            "pages/error.fxl": page(broken),
            "pages/shop/error.fxl": page(broken),
            "pages/shop/index.fxl": page(
                """
                @server
                async def load(request):
                    raise LoaderError("first failure", 500)
                """
            ),
        },
    )
    async with open_app(tmp_path) as client:
        response = await client.get("/shop")
    assert response.status == 500
    assert "first failure" in response.text
    assert "__fx_data" not in response.text


async def test_another_exception_is_a_500_that_says_nothing_in_production(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    return {"x": 1 / 0}
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        loaded = await client.load_page("/")
        assert loaded.status == 500
        assert loaded.payload["type"] == "ZeroDivisionError"
    async with open_app(tmp_path, mode="production") as client:
        loaded = await client.load_page("/")
    assert loaded.status == 500
    assert loaded.error == "An unexpected error occurred."
    assert loaded.payload["type"] == "ServerError"


async def test_visitors_who_meet_the_same_failure_write_one_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/[id].fxl": page(
                """
                @server
                async def load(request):
                    return {"x": int("no number " + request.path_params["id"])}
                """
            )
        },
    )
    async with open_app(tmp_path, mode="production") as client:
        for number in range(20):
            assert (await client.get(f"/{number}")).status == 500
    assert len([record for record in caplog.records if record.exc_info]) == 1
    assert caplog.messages[-1].startswith("19 more within 60 s like this: ")


async def test_a_traceback_names_the_line_of_the_page_file(tmp_path: Path, caplog) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                "use strict"


                @server
                async def load(request):
                    return {"x": 1 / 0}
                """
            )
        },
    )
    async with open_app(tmp_path, mode="production") as client:
        await client.get("/")
    path = tmp_path / "pages/index.fxl"
    lines = path.read_text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "1 / 0" in line)
    assert f'{path}", line {number}, in load' in caplog.text


async def test_a_value_json_cannot_hold_is_an_error_that_names_its_key(
    tmp_path: Path, caplog
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    return {"rows": [{"ok": None}, {"price": float("nan")}]}
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        assert (await client.get("/")).status == 500
    assert "rows[1].price" in caplog.text


async def test_a_redirect_may_be_returned_or_raised(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/a.fxl": page(
                """
                from fx.runtime import redirect

                @server
                async def load(request):
                    return redirect("/there?x=1")
                """
            ),
            "pages/b.fxl": page(
                """
                from fx.runtime import redirect

                @server
                async def load(request):
                    raise redirect("https://example.com/", 307)
                """
            ),
        },
    )
    async with open_app(tmp_path) as client:
        first, second = await client.get("/a"), await client.get("/b")
        payload = (await client.load_page("/a")).payload
    assert (first.status, first.headers["location"]) == (303, "/there?x=1")
    assert (second.status, second.headers["location"]) == (307, "https://example.com/")
    assert payload == {"ok": True, "redirect": "/there?x=1"}


async def test_headers_and_cookies_are_set_through_request_state_response(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                @server
                async def load(request):
                    request.state.response.headers["x-mood"] = "good"
                    request.state.response.headers["cache-control"] = "public, max-age=9"
                    request.state.response.set_cookie("seen", "1")
                    return {}
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        response = await client.get("/")
    assert response.headers["x-mood"] == "good"
    assert response.headers.getlist("cache-control") == ["public, max-age=9"]
    assert client.cookies["seen"] == "1"


async def test_a_loader_past_its_deadline_is_a_504(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                import trio

                @server(timeout=2)
                async def load(request):
                    await trio.sleep(60)
                    return {}
                """
            ),
            "pages/slow.fxl": page(
                """
                import trio

                @server
                async def load(request):
                    await trio.sleep(3600)
                    return {}
                """
            ),
        },
    )
    async with open_app(tmp_path) as client:
        begin = trio.current_time()
        assert (await client.load_page("/")).status == 504
        assert trio.current_time() - begin == 2
        begin = trio.current_time()
        assert (await client.get("/slow")).status == 504
        assert trio.current_time() - begin == 10  # timeouts.loader


async def test_the_request_s_deadline_covers_all_of_its_loaders(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                import trio

                @server(timeout=3600)
                async def load(request):
                    await trio.sleep(1800)
                    return {}
                """
            ),
        },
    )
    async with open_app(tmp_path, timeouts={"request": 7}) as client:
        begin = trio.current_time()
        response = await client.load_page("/")
        assert response.status == 504
        assert response.payload["type"] == "Timeout"
        assert trio.current_time() - begin == 7


async def test_a_client_that_leaves_cancels_its_loader(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                import trio

                @server
                async def load(request):
                    seen = request.app.state.seen
                    try:
                        await trio.sleep(5)
                    except trio.Cancelled:
                        seen.append("cancelled")
                        raise
                    return {}
                """
            ),
        },
    )
    async with open_app(tmp_path) as client:
        client.app.state.seen = []
        async with trio.open_nursery() as nursery:
            left = trio.Event()

            async def visit() -> None:
                scope = client.scope("http", "/", None)
                body = iter([{"type": "http.request", "body": b"", "more_body": False}])

                async def receive():
                    for message in body:
                        return message
                    await left.wait()
                    return {"type": "http.disconnect"}

                async def send(message) -> None:
                    raise AssertionError("nobody is there")

                await client.app(scope, receive, send)

            nursery.start_soon(visit)
            await trio.sleep(1)
            left.set()
        assert client.app.state.seen == ["cancelled"]
        assert trio.current_time() < 5


async def test_a_loader_error_inside_a_nursery_is_the_loader_error(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(
                """
                import trio

                async def fail():
                    raise LoaderError("deep", 418)

                @server
                async def load(request):
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(fail)
                    return {}
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        loaded = await client.load_page("/")
    assert (loaded.status, loaded.error) == (418, "deep")


async def test_what_a_loader_may_ask_of_the_request(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/[id].fxl": page(
                """
                @server
                async def load(request):
                    return {
                        "path_params": request.path_params,
                        "query": request.query_params["q"],
                        "header": request.headers["x-one"],
                        "cookie": request.cookies["c"],
                        "url": str(request.url),
                        "method": request.method,
                        "id": request.state.request_id,
                    }
                """
            )
        },
    )
    async with open_app(tmp_path) as client:
        client.cookies["c"] = "3"
        response = await client.get("/%C3%A9?q=2", headers={"x-one": "1", "x-fx-navigation": "1"})
    data = response.json()["props"]["data"]
    assert data.pop("id") == response.headers["x-request-id"]
    assert data == {
        "path_params": {"id": "é"},
        "query": "2",
        "header": "1",
        "cookie": "3",
        "url": "http://testserver/é?q=2",
        "method": "GET",
    }


async def test_an_unmatched_url_has_the_parameters_of_the_folder_that_answers(
    tmp_path: Path,
) -> None:
    layout = """
        @server
        async def load(request):
            return {"params": request.path_params}
        """
    files = {
        "pages/[lang]/layout.fxl": page(layout.replace("params}", "params['lang']}"), LAYOUT),
        "pages/[lang]/not-found.fxl": page(layout),
        "pages/[lang]/index.fxl": page(""),
        "pages/not-found.fxl": page(layout),
    }
    async with open_app(write_tree(tmp_path, files)) as client:
        below = await client.load_page("/de/no/such%20page")
        above = await client.load_page("/")
        odd = [await client.load_page(url) for url in ("/de//no", "//de/no", "/de/../x")]

    assert [(one.status, one.data) for one in odd] == [(404, above.data)] * len(odd)
    assert (below.status, above.status) == (404, 404)
    assert below.data == {"params": {"lang": "de"}}
    assert above.data == {"params": {}}
