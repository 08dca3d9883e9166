"""From ``plugins`` in the config to plugin objects."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fxtrio.config import Config, PluginConfig, load_config
from fxtrio.config.errors import ConfigInvalid
from fxtrio.errors import DottedNameUnknown
from fxtrio.plugins import load_plugins
from fxtrio.plugins.protocol import PluginFailed
from tests.plugins.sample import Bare, Greeter, GreeterSettings

GREETER = "tests.plugins.sample:Greeter"


def resolve(name: str) -> object:
    module, _, attribute = name.replace(":", ".").rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise DottedNameUnknown(name, str(error)) from error


def load(*plugins: PluginConfig | str, resolve: Any = resolve) -> Any:
    entries = tuple(PluginConfig(name=p) if isinstance(p, str) else p for p in plugins)
    return load_plugins(Config(plugins=entries), root=Path("/project"), resolve=resolve)


def problems(*plugins: PluginConfig | str) -> list[str]:
    with pytest.raises(ConfigInvalid) as caught:
        load(*plugins)
    return [str(problem) for problem in caught.value.problems]


def test_plugins_are_created_in_config_order_with_their_settings() -> None:
    greeter, bare = load(
        PluginConfig(name=GREETER, settings={"greeting": "Hi", "maxLength": 5}),
        "tests.plugins.sample.Bare",
    )
    assert isinstance(greeter, Greeter)
    assert greeter.settings == GreeterSettings(greeting="Hi", max_length=5)
    assert greeter.root == Path("/project")
    assert isinstance(greeter.config, Config)
    assert isinstance(bare, Bare)


def test_plugins_of_pyxle_are_named_with_their_counterparts() -> None:
    auth, db = problems("pyxle-auth", "pyxle-db")
    assert auth.endswith("not 'pyxle-auth'. Write 'auth'.")
    assert db.endswith("not 'pyxle-db'. Leave it out, and set 'database.url'.")


def test_names_of_the_application_are_resolved_by_what_was_handed_in() -> None:
    names = []

    def resolving(name: str) -> object:
        names.append(name)
        return Bare

    (plugin,) = load("app.plugins:Mine", resolve=resolving)
    assert type(plugin) is Bare
    assert names == ["app.plugins:Mine"]


def test_a_short_name_is_a_plugin_of_the_framework() -> None:
    def resolving(name: str) -> object:
        raise AssertionError("not a name of the application")

    (plugin,) = load("auth", resolve=resolving)
    assert type(plugin).__module__.startswith("fxtrio.plugins.auth")


def test_every_problem_of_every_plugin_is_reported_at_once() -> None:
    found = problems(
        PluginConfig(name=GREETER, settings={"maxLength": 0, "greting": "Hi"}),
        "aut",
        "tests.plugins.sample:Nothing",
        "tests.plugins.sample:not_a_plugin",
        "tests.plugins.sample:Nameless",
        "no_such_package.plugin:Class",
        PluginConfig(name="tests.plugins.sample:Shouter", settings={"greeting": 5}),
    )
    assert [line.split(" ")[1] for line in found] == [
        "plugins.0.settings.greting",
        "plugins.0.settings.maxLength",
        "plugins.1.name",
        "plugins.2.name",
        "plugins.3.name",
        "plugins.4.name",
        "plugins.5.name",
        "plugins.6.settings.greeting",
    ]
    assert all(line.startswith("settings: ") for line in found)  # there is no fx.config.json
    assert "Did you mean 'auth'?" in found[2]
    assert "'tests.plugins.sample:Nothing', which cannot be found" in found[3]
    assert "No module named 'no_such_package'" in found[6]
    assert "must be text, not 5" in found[7]


def test_two_plugins_of_one_name_are_a_problem() -> None:
    assert problems(GREETER, GREETER) == [
        "settings: plugins.1.name is 'greeter', and so is plugins.0."
    ]


def test_a_problem_has_its_place_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "fx.config.json").write_text('{\n  "plugins": [\n    "athu"\n  ]\n}')
    with pytest.raises(ConfigInvalid) as caught:
        load_plugins(load_config(tmp_path, environ={}), root=tmp_path, resolve=resolve)

    assert str(caught.value).startswith(f"{tmp_path}/fx.config.json:3:5: plugins.0.name must be")


def test_a_module_that_raises_names_the_plugin_and_keeps_the_cause() -> None:
    error = ZeroDivisionError("x")

    def resolving(name: str) -> object:
        raise error

    with pytest.raises(PluginFailed, match="could not be imported") as info:
        load("app.mail:Mail", resolve=resolving)
    assert info.value.__cause__ is error
    assert str(info.value).startswith("plugin 'app.mail:Mail': ")


def test_a_plugin_that_cannot_be_created_is_named_with_its_cause() -> None:
    with pytest.raises(PluginFailed, match="could not be created: RuntimeError: no such") as info:
        load("tests.plugins.sample:Unmakeable")
    assert isinstance(info.value.__cause__, RuntimeError)


def test_commands_see_settings_and_project_without_a_running_app() -> None:
    (greeter,) = load(PluginConfig(name=GREETER, settings={"greeting": "Hi"}))
    (command,) = greeter.commands()
    result = CliRunner().invoke(command)
    assert result.output == "Hi from project\n"
