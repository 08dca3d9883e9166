"""The plugin as a whole: settings, keys, CSRF binding, commands."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result
from starlette.requests import HTTPConnection

from fxtrio.app_handle import App
from fxtrio.config import Config, PluginConfig
from fxtrio.config.errors import ConfigInvalid
from fxtrio.db.errors import DatabaseClosed
from fxtrio.plugins import csrf_binding_of, load_plugins, open_plugins
from fxtrio.plugins.auth import AuthPlugin, AuthSettings
from fxtrio.plugins.auth.errors import SecretKeyMissing
from fxtrio.plugins.protocol import PluginFailed
from tests.auth.harness import CHEAP, EMAIL, KEY, PASSWORD, Auth, carry, log_in, open_auth_with_user


def load(root: Path, settings: dict[str, Any]) -> AuthPlugin:
    config = Config(secret_keys=(KEY,), plugins=(PluginConfig(name="auth", settings=settings),))
    (plugin,) = load_plugins(config, root=root, resolve=cast("Any", None))
    assert isinstance(plugin, AuthPlugin)
    return plugin


def make_app(config: Config) -> App:
    nothing = cast("Any", SimpleNamespace())
    return App(config=config, tasks=nothing, broker=nothing, state=nothing)


def connection(cookie: str | None, scheme: str = "https") -> HTTPConnection:
    headers = [] if cookie is None else [(b"cookie", cookie.encode())]
    return HTTPConnection({"type": "http", "scheme": scheme, "headers": headers})


@pytest.fixture
async def auth(tmp_path: Path):
    async with open_auth_with_user(tmp_path) as auth:
        yield auth


def test_settings_are_read_from_the_config(tmp_path: Path) -> None:
    plugin = load(tmp_path, {"idleTimeout": 60, "argon2": {"memoryKib": 8}, "clientAttempts": None})
    assert plugin.settings.idle_timeout == 60.0
    assert plugin.settings.argon2.memory_kib == 8
    assert plugin.settings.client_attempts is None


def test_every_wrong_setting_is_named(tmp_path: Path) -> None:
    wrong = {
        "idleTimeout": 0,
        "absoluteTimeout": "long",
        "passwordMinLength": 4,
        "passwordMaxLength": 32,
        "cookieName": "a b",
        "secure": "never",
        "loginPath": "//evil.example",
        "publicPaths": ["docs"],
        "clientAttempts": 0,
        "argon2": {"memoryKib": 1},
        "cookie": "sid",
    }
    with pytest.raises(ConfigInvalid) as caught:
        load(tmp_path, wrong)
    named = {problem.key.removeprefix("plugins.0.settings.") for problem in caught.value.problems}
    assert named == {*(wrong.keys() - {"argon2"}), "argon2.memoryKib"}


async def test_without_a_secret_key_the_app_does_not_start(tmp_path: Path) -> None:
    config = Config()
    plugin = AuthPlugin(AuthSettings(argon2=CHEAP), config=config, root=tmp_path)
    with pytest.raises(PluginFailed, match="plugin 'auth': could not start") as info:
        async with open_plugins([plugin], make_app(config)):
            raise AssertionError("must not start")
    assert isinstance(info.value.__cause__, SecretKeyMissing)


async def test_without_argon2_the_app_does_not_start_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "argon2", None)
    config = Config(secret_keys=(KEY,))
    plugin = AuthPlugin(AuthSettings(), config=config, root=tmp_path)
    with pytest.raises(PluginFailed, match=r"pip install 'fxtrio\[auth\]'"):
        async with open_plugins([plugin], make_app(config)):
            raise AssertionError("must not start")


async def test_csrf_tokens_are_bound_to_the_session_and_to_nothing_without_one(
    auth: Auth,
) -> None:
    bind = csrf_binding_of([auth.plugin])
    before = auth.queries
    assert bind(connection(None)) is None
    assert bind(connection("__Host-sid=forged")) is None
    first, second = auth.client(), auth.client()
    cookies = [carry(await log_in(client)) for client in (first, second)]
    before = auth.queries
    bindings = [bind(connection(cookie)) for cookie in cookies]
    assert None not in bindings
    assert len(set(bindings)) == 2
    assert bind(connection(f"theme=dark; {cookies[0]}")) == bindings[0]
    assert auth.queries == before
    token = cookies[0].partition("=")[2].partition(".")[0]
    assert token not in str(bindings[0])


async def test_the_service_is_closed_when_the_app_stops(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path) as auth:
        assert auth.handle.plugins["auth"] is auth.service
    assert auth.handle.plugins == {}
    with pytest.raises(DatabaseClosed):
        await auth.service.storage.find_account(EMAIL)


def run(root: Path, *arguments: str) -> Result:
    plugin = load(root, {"argon2": {"timeCost": 1, "memoryKib": 8, "parallelism": 1}})
    (command,) = plugin.commands()
    return CliRunner().invoke(command, arguments)


def test_users_can_be_managed_from_the_command_line(tmp_path: Path) -> None:
    created = run(tmp_path, "create-user", "Ada@Example.org", "--password", PASSWORD)
    assert (created.exit_code, created.output) == (0, "Added ada@example.org.\n")
    changed = run(tmp_path, "set-password", EMAIL, "--password", "another password")
    assert changed.output == "Replaced the password of ada@example.org.\n"
    ended = run(tmp_path, "end-sessions", EMAIL)
    assert ended.output == "Ended 0 sessions of ada@example.org.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create-user", EMAIL, "--password", "short"), "Use at least 8 characters"),
        (("create-user", "x", "--password", PASSWORD), "This is not an email address"),
        (("set-password", EMAIL, "--password", PASSWORD), "there is no user"),
        (("end-sessions", EMAIL), "there is no user"),
    ],
)
def test_commands_report_errors(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(tmp_path, *arguments)
    assert result.exit_code == 1
    assert message in result.output


def test_a_user_cannot_be_created_twice(tmp_path: Path) -> None:
    run(tmp_path, "create-user", EMAIL, "--password", PASSWORD)
    again = run(tmp_path, "create-user", EMAIL, "--password", PASSWORD)
    assert again.exit_code == 1
    assert "there is a user with this address already" in again.output
