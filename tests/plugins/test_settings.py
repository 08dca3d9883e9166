"""Settings of plugins: JSON in, attrs objects or all mistakes out."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.plugins.settings import SettingsInvalid, read_settings


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@attrs.frozen(kw_only=True)
class Host:
    name: str
    port: int = attrs.field(default=25, validator=attrs.validators.ge(1))


def _upper(value: str) -> str:
    return value.upper()


@attrs.frozen(kw_only=True)
class Everything:
    sender_name: str
    hosts: tuple[Host, ...] = ()
    primary: Host | None = None
    retry_after: float = 1.5
    verbose: bool = False
    mode: Literal["fast", "safe"] = "fast"
    level: Level = Level.LOW
    limits: dict[str, int] = attrs.field(factory=dict)
    tags: list[str] = attrs.field(factory=list)
    folder: Path = Path("mail")
    pair: tuple[int, str] = (1, "a")
    code: str = attrs.field(default="AB", converter=_upper, validator=attrs.validators.max_len(2))
    _hidden: int = 1


def mistakes(raw: object, target: type[Any] = Everything) -> dict[str, str]:
    with pytest.raises(SettingsInvalid) as caught:
        read_settings(target, raw)
    return {mistake.key: mistake.cause for mistake in caught.value.mistakes}


def test_camel_case_keys_become_attributes_of_their_types() -> None:
    settings = read_settings(
        Everything,
        {
            "senderName": "app",
            "hosts": [{"name": "a"}, {"name": "b", "port": 587}],
            "primary": {"name": "a"},
            "retryAfter": 2,
            "verbose": True,
            "mode": "safe",
            "level": "high",
            "limits": {"day": 5},
            "tags": ["x"],
            "folder": "out/mail",
            "pair": [2, "b"],
            "code": "xy",
            "hidden": 3,
        },
    )
    assert settings == Everything(
        sender_name="app",
        hosts=(Host(name="a"), Host(name="b", port=587)),
        primary=Host(name="a"),
        retry_after=2.0,
        verbose=True,
        mode="safe",
        level=Level.HIGH,
        limits={"day": 5},
        tags=["x"],
        folder=Path("out/mail"),
        pair=(2, "b"),
        code="XY",
        hidden=3,
    )
    assert isinstance(settings.retry_after, float)


def test_a_missing_setting_has_its_default() -> None:
    assert read_settings(Everything, {"senderName": "a"}) == Everything(sender_name="a")


def test_all_mistakes_are_reported_with_the_path_of_their_keys() -> None:
    found = mistakes(
        {
            "hosts": [{"name": "a", "port": 0}, {"port": "25"}, 7],
            "primary": {"name": 5, "prot": 1},
            "retryAfter": "soon",
            "verbose": 1,
            "mode": "slow",
            "limits": {"day": "five", "week": 1.5},
            "tags": "x",
            "code": "abc",
            "retry_after": 3,
        }
    )
    assert found.keys() == {
        "senderName",
        "hosts.0.port",
        "hosts.1.name",
        "hosts.1.port",
        "hosts.2",
        "primary.name",
        "primary.prot",
        "retryAfter",
        "verbose",
        "mode",
        "limits.day",
        "limits.week",
        "tags",
        "code",
        "retry_after",
    }
    assert found["senderName"] == "is not set. Add it"
    assert found["hosts.1.port"] == "must be a whole number, not '25'"
    assert found["hosts.2"] == "must be an object, not 7"
    assert found["primary.prot"] == "is not a setting. Did you mean 'port'?"
    assert found["retryAfter"] == "must be a number, not 'soon'"
    assert found["verbose"] == "must be true or false, not 1"
    assert found["mode"] == "must be 'fast' or 'safe', not 'slow'"
    assert found["tags"] == "must be a list, not 'x'"
    assert found["retry_after"] == "is not a setting. Did you mean 'retryAfter'?"


def test_true_is_not_a_number() -> None:
    assert mistakes({"name": "a", "port": True}, Host) == {
        "port": "must be a whole number, not True"
    }


def test_a_fixed_tuple_and_an_enum_report_their_own_key() -> None:
    found = mistakes({"senderName": "a", "pair": [1], "level": "medium"})
    assert found.keys() == {"pair", "level"}


def test_settings_that_are_no_object_are_one_mistake() -> None:
    assert mistakes([1]) == {"": "must be an object, not [1]"}


def test_a_far_off_key_lists_the_known_ones() -> None:
    found = mistakes({"name": "a", "zzz": 1}, Host)
    assert found == {"zzz": "is not a setting. Known here: name, port."}


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
keys = st.sampled_from(["senderName", "hosts", "primary", "limits", "tags", "pair", "level", "x"])


@given(st.dictionaries(keys, json) | json)
def test_any_json_gives_settings_or_mistakes(raw: object) -> None:
    try:
        assert isinstance(read_settings(Everything, raw), Everything)
    except SettingsInvalid as error:
        assert error.mistakes
