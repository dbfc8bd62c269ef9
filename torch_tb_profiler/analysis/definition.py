"""What a definition is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["string", "number", "bool"]
Unit = Literal["ns", "bytes", "bytes_per_second", "percent", "fraction", "count"]


@dataclass(frozen=True)
class Definition:
    """One reported quantity: the key of the HTTP interface, how to show it, and what it is.

    key    its name in answers, with the unit at its end
    label  what a page calls it
    type   of its values
    unit   of its values, null where they have none
    help   definition and formula
    """

    key: str
    label: str
    type: ColumnType
    unit: Unit | None
    help: str


def by_key(*definitions: Definition) -> dict[str, Definition]:
    return {d.key: d for d in definitions}
