"""Bodies of every kind of model, and what was posted last: everybody can see it."""

from collections import deque
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

import attrs
from pydantic import BaseModel

EMAIL = "ada@example.org"
PASSWORD = "a password of the attack"

ENTRIES = deque(maxlen=10)
TYPED = deque(maxlen=10)


def keep(seen, value):
    """Keep what a visitor wrote, without anything that would make pages endless."""
    if len(repr(value)) <= 5000:
        seen.append(value)


@attrs.frozen
class Entry:
    name: str
    message: str


@attrs.frozen
class Line:
    article: str
    price: Decimal
    ratio: float = 1.0
    count: int = 1


@attrs.frozen
class Order:
    name: str
    when: datetime | None = None
    kind: Literal["a", "b"] = "a"
    tags: list[str] = attrs.field(factory=list)
    numbers: list[int] = attrs.field(factory=list)
    lines: list[Line] = attrs.field(factory=list)
    by_name: dict[str, Line] = attrs.field(factory=dict)
    price: Decimal = Decimal(0)
    ratio: float = 1.0


@attrs.frozen
class Coupon:
    code: str
    number: str


@dataclass
class Leg:
    to: str
    km: float
    cost: Decimal = Decimal(0)


@dataclass
class Trip:
    name: str
    day: date | None = None
    legs: list[Leg] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    km: float = 0.0
    cost: Decimal = Decimal(0)
    express: bool = False


class Address(BaseModel):
    street: str
    number: int = 1


class Person(BaseModel):
    name: str
    age: int = 0
    height: float = 1.0
    wealth: Decimal = Decimal(0)
    born: datetime | None = None
    addresses: list[Address] = []
    numbers: list[int] = []
