"""Settings: three layers, every mistake reported at once, with the place and the path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fxtrio.config import Config, load_config, read_config
from fxtrio.config.errors import ConfigInvalid
from fxtrio.config.json_positions import key_places
from fxtrio.config.section import is_section, settings_of
from fxtrio.config.validators import camel
from fxtrio.sizes import to_bytes


def write(root: Path, content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (root / "fx.config.json").write_text(text, encoding="utf-8")


def problems_of(
    root: Path, environ: dict[str, str] | None = None, **overrides: Any
) -> list[tuple[str, str]]:
    """Return (key, cause) of every problem; fails when the settings are fine."""
    with pytest.raises(ConfigInvalid) as caught:
        load_config(root, environ=environ or {}, **overrides)
    return [(problem.key, problem.cause) for problem in caught.value.problems]


def test_without_a_file_every_setting_has_its_default_and_the_name_is_the_folders(
    tmp_path: Path,
) -> None:
    config = load_config(tmp_path, environ={})

    assert config == Config(name=tmp_path.name)
    assert (config.ssr.workers, config.limits.body, config.timeouts.loader) == (1, 10485760, 10.0)


def test_the_file_uses_camel_case_and_sections(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "$schema": "https://example.org/fx.json",
            "name": "Shop",
            "baseUrl": "/shop/",
            "routeMiddleware": {"pages": ["app.guards.signed_in"]},
            "plugins": ["auth", {"name": "app.mail:plugin", "settings": {"from": "a@b.c"}}],
            "csrf": {"trustedOrigins": ["https://pay.example:8443"]},
            "limits": {"body": "1 MiB"},
            "timeouts": {"keepAlive": 5},
            "llms": True,
        },
    )

    config = load_config(tmp_path, environ={})

    assert config.base_url == "/shop"
    assert config.route_middleware.pages == ("app.guards.signed_in",)
    assert [plugin.name for plugin in config.plugins] == ["auth", "app.mail:plugin"]
    assert config.plugins[1].settings == {"from": "a@b.c"}
    assert config.csrf.enabled and config.csrf.trusted_origins == ("https://pay.example:8443",)
    assert (config.limits.body, config.timeouts.keep_alive) == (1024**2, 5.0)
    assert config.llms.enabled and config.llms.auto_convert


def test_keywords_win_over_the_environment_which_wins_over_the_file(tmp_path: Path) -> None:
    write(tmp_path, {"ssr": {"workers": 2, "heapMb": 100, "maxPending": 5}})
    environ = {"FX_SSR__WORKERS": "3", "FX_SSR__HEAP_MB": "200"}

    config = load_config(tmp_path, environ=environ, ssr__workers=4)

    assert (config.ssr.workers, config.ssr.heap_mb, config.ssr.max_pending) == (4, 200, 5)


def test_keywords_may_be_nested_flat_or_models(tmp_path: Path) -> None:
    defaults = load_config(tmp_path, environ={})

    nested = load_config(tmp_path, environ={}, tasks={"workers": 2}, tasks__capacity=3)
    model = load_config(tmp_path, environ={}, tasks=replace(defaults.tasks, workers=7))

    assert (nested.tasks.workers, nested.tasks.capacity) == (2, 3)
    assert model.tasks.workers == 7


@pytest.mark.parametrize(
    ("variable", "text", "path", "expected"),
    [
        ("FX_BASE_URL", "/app", ("base_url",), "/app"),
        ("FX_NAME", "42", ("name",), "42"),
        ("FX_CSRF", "false", ("csrf", "enabled"), False),
        ("FX_CSRF__MODE", "strict", ("csrf", "mode"), "strict"),
        ("FX_SSR__MEMO", "off", ("ssr", "memo"), False),
        ("FX_SSR__MEMO_AGE", "1.5", ("ssr", "memo_age"), 1.5),
        ("FX_LIMITS__BODY", "2KiB", ("limits", "body"), 2048),
        ("FX_LIMITS__BODY", "7", ("limits", "body"), 7),
        ("FX_MIDDLEWARE", "a.B, c:D", ("middleware",), ("a.B", "c:D")),
        ("FX_MIDDLEWARE", '["a.B"]', ("middleware",), ("a.B",)),
        ("FX_LLMS", '{"enabled": true, "auto_convert": false}', ("llms", "auto_convert"), False),
    ],
)
def test_environment_variables_are_read_by_the_type_of_their_setting(
    tmp_path: Path, variable: str, text: str, path: tuple[str, ...], expected: object
) -> None:
    value: Any = load_config(tmp_path, environ={variable: text})
    for name in path:
        value = getattr(value, name)

    assert value == expected
    assert type(value) is type(expected)


def test_all_mistakes_of_a_file_are_reported_together(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "ssr": {"workers": 0, "memoByts": 1},
            "base_url": "/x",
            "csp": "on",
            "limits": {"body": "10 megabytes"},
        },
    )

    assert problems_of(tmp_path) == [
        ("ssr.workers", "must be at least 1, not 0"),
        ("ssr.memoByts", "is not a setting. Did you mean 'memoBytes'?"),
        ("base_url", "is not a setting. Did you mean 'baseUrl'?"),
        ("csp", "must be 'report-only' or 'enforce' or 'off', not 'on'"),
        (
            "limits.body",
            "must be a number of bytes or text such as '64MiB', not '10 megabytes'",
        ),
    ]


def test_settings_of_pyxle_are_named_with_their_counterparts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "rateLimit": {"requests": 60},
            "observability": {"timing": True},
            "cache": {"/docs/*": 1800},
        },
    )

    assert problems_of(tmp_path) == [
        (
            "rateLimit",
            'is not a setting. Write "rateLimits": [{"route": "/*", "limit": "100/minute"}]',
        ),
        (
            "observability.timing",
            'is not a setting. Set \'observability.accessLog\' to "console" or "json"',
        ),
        (
            "cache./docs/*",
            'is not a setting. Write "cacheControl": {"/docs/*": "public, s-maxage=…"}',
        ),
    ]


def test_mistakes_of_all_layers_are_reported_together_each_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, {"lang": ""})

    with pytest.raises(ConfigInvalid) as caught:
        load_config(tmp_path, environ={"FX_TASKS__WORKERS": "many"}, tasks__wrokers=2)

    assert str(caught.value).splitlines() == [
        f"{tmp_path / 'fx.config.json'}:1:2: lang must be a language tag such as 'en' or 'pt-BR', "
        "not ''.",
        "FX_TASKS__WORKERS: must be a whole number, not 'many'.",
        "keyword argument: tasks.wrokers is not a setting. Did you mean 'workers'?",
    ]


@pytest.mark.parametrize(
    ("content", "key", "cause"),
    [
        ({"ssr": {"workers": 1.5}}, "ssr.workers", "must be a whole number, not 1.5"),
        ({"ssr": {"workers": True}}, "ssr.workers", "must be a whole number, not True"),
        ({"ssr": {"workers": "2"}}, "ssr.workers", "must be a whole number, not '2'"),
        ({"ssr": {"memo": 1}}, "ssr.memo", "must be true or false, not 1"),
        ({"ssr": 3}, "ssr", "must be an object, not 3"),
        ({"csrf": "no"}, "csrf", "must be true, false or an object, not 'no'"),
        ({"timeouts": {"body": 0}}, "timeouts.body", "must be more than 0 seconds, not 0.0"),
        ({"middleware": "a.b"}, "middleware", "must be a list of text, not 'a.b'"),
        (
            {"middleware": ["nodots"]},
            "middleware",
            "must contain names such as 'app.guards.signed_in', not 'nodots'",
        ),
        ({"plugins": {}}, "plugins", "must be a list, not {}"),
        ({"plugins": [{"settings": {}}]}, "plugins.0", "must have a 'name'"),
        ({"plugins": ["db", 3]}, "plugins.1", "must be an object, not 3"),
        (
            {"plugins": [{"name": "db", "settings": 1}]},
            "plugins.0.settings",
            "must be an object, not 1",
        ),
        (
            {"baseUrl": "app"},
            "baseUrl",
            "must be empty or a path such as '/app', not 'app'",
        ),
        ({"baseUrl": 5}, "baseUrl", "must be text, not 5"),
        (
            {"pagesDir": "../pages"},
            "pagesDir",
            "must be a folder inside the project such as 'pages', not '../pages'",
        ),
        (
            {"csrf": {"trustedOrigins": ["https://a.example/x"]}},
            "csrf.trustedOrigins",
            "must contain origins such as 'https://example.org', not 'https://a.example/x'",
        ),
        (
            {"csrf": {"trustedOrigins": ["https://*.example.org"]}},
            "csrf.trustedOrigins",
            "must contain origins such as 'https://example.org', not 'https://*.example.org'",
        ),
        (
            {"cors": {"origins": ["https://*.example.org"]}},
            "cors.origins",
            "must contain origins such as 'https://example.org', not 'https://*.example.org'",
        ),
        (
            {"realtime": {"broker": "kafka://x"}},
            "realtime.broker",
            "must be 'memory' or a URL such as 'redis://localhost' or "
            "'postgresql://localhost/shop', not 'kafka://x'",
        ),
        (
            {"rateLimitStorage": "postgresql://localhost/shop"},
            "rateLimitStorage",
            "must be 'memory' or a URL such as 'redis://localhost', "
            "not 'postgresql://localhost/shop'",
        ),
        (
            {"secretKeys": ["x" * 40]},
            "secretKeys",
            "is not read from a file. Set FX_SECRET_KEY instead",
        ),
    ],
)
def test_a_wrong_value_is_quoted_with_its_path(
    tmp_path: Path, content: object, key: str, cause: str
) -> None:
    write(tmp_path, content)

    assert problems_of(tmp_path) == [(key, cause)]


def test_a_mistake_in_the_file_has_the_place_of_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        """{
  "name": "a \\"quoted\\" {name}",
  "plugins": ["auth", { "name": "x.y", "settigns": {} }],
  "ssr": {
    "memo": true,
    "é": [1, {"a": 2}], "workers": 0
  }
}""",
    )

    with pytest.raises(ConfigInvalid) as caught:
        load_config(tmp_path, environ={})

    assert [line.split(" is ")[0] for line in str(caught.value).splitlines()] == [
        "fx.config.json:3:40: plugins.1.settigns",
        "fx.config.json:6:5: ssr.é",
        "fx.config.json:6:25: ssr.workers must be at least 1, not 0.",
    ]


def test_messages_name_files_as_the_current_folder_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    write(tmp_path / "shop", {"lang": ""})
    places = []
    for folder in (tmp_path, tmp_path / "shop", Path("/")):
        monkeypatch.chdir(folder)
        with pytest.raises(ConfigInvalid) as caught:
            load_config(tmp_path / "shop", environ={})
        places.append(str(caught.value).partition(":")[0])

    inside = (tmp_path / "shop/fx.config.json").relative_to("/").as_posix()
    assert places == ["shop/fx.config.json", "fx.config.json", inside]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([None, 2]),
)
def test_every_key_of_a_json_text_has_a_place(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    lines = text.split("\n")

    for path, (line, column) in key_places(text).items():
        found = lines[line - 1][column - 1 :]
        assert found.startswith('"') or path.rpartition(".")[2].isdigit()


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"lang": "en",}', "there is a comma after the last entry"),
        ('{"middleware": ["a.b",]}', "there is a comma after the last entry"),
        ('{\n// mine\n"lang": "en"}', "comments are not allowed in it"),
        ("{'lang': 'en'}", "text needs double quotes"),
        ('{"lang" "en"}', "Expecting ':' delimiter"),
    ],
)
def test_javascript_in_place_of_json_is_reported_in_plain_words(
    tmp_path: Path, text: str, cause: str
) -> None:
    write(tmp_path, text)

    assert problems_of(tmp_path) == [("", f"is not JSON: {cause}")]


def test_valid_settings_are_read_beside_invalid_ones(tmp_path: Path) -> None:
    write(tmp_path, {"lang": "", "pagesDir": "site", "plugins": [{"nam": "x"}, "auth"]})

    config, problems = read_config(tmp_path, environ={"FX_SSR__WORKERS": "0"})

    assert (config.lang, config.pages_dir, config.ssr.workers) == ("en", "site", 1)
    assert [plugin.name for plugin in config.plugins] == ["auth"]
    assert len(problems) == 4


def test_a_path_that_does_not_begin_with_a_slash_is_quoted_as_it_was_written(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"baseUrl": "shop/"})

    cause = "must be empty or a path such as '/app', not 'shop/'"
    assert problems_of(tmp_path) == [("baseUrl", cause)]


def test_the_error_names_where_else_a_setting_is_set(tmp_path: Path) -> None:
    write(tmp_path, {"secretKey": "x", "port": 3000, "ssr": {"port": 1}})

    found = dict(problems_of(tmp_path))
    assert found["secretKey"] == "is not read from a file. Set FX_SECRET_KEY instead"
    assert found["port"] == "is not a setting of the app. Write 'fx serve --port'"
    assert found["ssr.port"].startswith("is not a setting. Known here:")


def test_only_near_misses_of_variables_are_mistakes(tmp_path: Path) -> None:
    fine = {"FX_COLOUR": "1", "FX_PUBLIC_ID": "x", "FX_MODE": "development"}
    assert load_config(tmp_path, environ=fine) == Config(name=tmp_path.name)

    [(_, cause)] = problems_of(tmp_path, {"FX_SSR_WORKERS": "2", **fine})
    assert cause == "is not a setting. Did you mean 'FX_SSR__WORKERS'?"


def test_broken_json_is_reported_with_line_and_column(tmp_path: Path) -> None:
    write(tmp_path, '{"ssr": {"workers": 2},\n "csp": }')

    with pytest.raises(ConfigInvalid, match=r"fx\.config\.json:2:9: is not JSON"):
        load_config(tmp_path, environ={})


def test_a_repeated_key_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, '{"name": "a", "name": "b"}')

    assert problems_of(tmp_path) == [("", "sets 'name' twice in one object")]


def test_a_file_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "fx.config.json").write_bytes(b'{"name": "\xff"}')

    [(_, cause)] = problems_of(tmp_path)

    assert cause.startswith("cannot be read: ")


def test_secret_keys_come_from_the_environment_in_order(tmp_path: Path) -> None:
    config = load_config(tmp_path, environ={"FX_SECRET_KEY": f"{'new' * 10}, {'old' * 10}"})

    assert config.secret_keys == ("new" * 10, "old" * 10)
    assert "newnew" not in repr(config)


def test_the_error_for_a_short_secret_key_does_not_contain_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load_config(tmp_path, environ={"FX_SECRET_KEY": "hunter2"})

    assert str(caught.value) == "FX_SECRET_KEY: must contain keys of at least 16 characters."


def test_a_misspelt_variable_is_a_mistake_but_variables_of_other_tools_are_not(
    tmp_path: Path,
) -> None:
    assert problems_of(tmp_path, {"FX_SSR__WORKER": "2"}) == [
        ("", "is not a setting. Did you mean 'FX_SSR__WORKERS'?")
    ]
    load_config(tmp_path, environ={"FX_TOOLCHAIN": "/opt/x", "FXRATE": "1"})


def test_every_setting_can_be_set_in_the_file_and_in_the_environment(tmp_path: Path) -> None:
    content: dict[str, Any] = {}
    environ: dict[str, str] = {}
    for name, attribute in settings_of(Config).items():
        default = getattr(Config(), name)
        if name in ("secret_keys", "plugins"):
            continue
        if is_section(type(default)):
            section: Any = attribute.type
            for inner in settings_of(section):
                value = getattr(default, inner)
                content.setdefault(camel(name), {})[camel(inner)] = value
                text = value if isinstance(value, str) else json.dumps(value)
                environ[f"FX_{name.upper()}__{inner.upper()}"] = text
        else:
            content[camel(name)] = default
            environ[f"FX_{name.upper()}"] = (
                default if isinstance(default, str) else json.dumps(default)
            )
    expected = Config()

    write(tmp_path, content)
    assert load_config(tmp_path, environ={}) == expected
    (tmp_path / "fx.config.json").unlink()
    assert load_config(tmp_path, environ=environ) == expected


@given(st.integers(0, 10**6), st.sampled_from([("", 0), ("B", 0), ("KiB", 1), ("MiB", 2)]))
def test_sizes_are_numbers_with_a_binary_unit(number: int, unit: tuple[str, int]) -> None:
    name, power = unit

    assert to_bytes(f"{number}{name}") == number * 1024**power


@pytest.mark.parametrize(
    ("size", "expected"), [("200kB", 200_000), ("200 KB", 200_000), ("100kiB", 102_400)]
)
def test_a_kilobyte_has_both_spellings(size: str, expected: int) -> None:
    assert to_bytes(size) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from([camel(name) for name in settings_of(Config)]) | st.text(max_size=6),
        json_values | st.dictionaries(st.sampled_from(["enabled", "workers", "body"]), json_values),
    )
)
def test_any_json_object_gives_settings_or_problems_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    root = tmp_path_factory.getbasetemp()
    write(root, content)

    try:
        load_config(root, environ={})
    except ConfigInvalid as error:
        assert error.problems


def test_a_text_that_is_half_written_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "fx.config.json"
    text = '{"name": "shop", "ssr": {"workers": [2, {"a\\u00e4": null}]}, "lang": "en"}'
    for end in range(1, len(text)):
        file.write_text(text[:end], "utf-8")
        with pytest.raises(ConfigInvalid, match=r"fx\.config\.json:1:\d+"):
            load_config(tmp_path, environ={})
    file.write_text("[" * 100_000, "utf-8")
    with pytest.raises(ConfigInvalid, match="is nested too deeply"):
        load_config(tmp_path, environ={})
