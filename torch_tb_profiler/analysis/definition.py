"""What a definition is."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

ColumnType = Literal["string", "number", "bool"]
Unit = Literal["ns", "bytes", "bytes_per_second", "flop", "flop_per_second", "percent", "fraction", "count"]


class Definition(msgspec.Struct, frozen=True):
    """One reported quantity: the key of the HTTP interface, how to show it, and what it is.

    key     its name in answers, with the unit at its end
    label   what a page calls it
    type    of its values
    unit    of its values, null if they have none
    help    definition and formula
    id      of label and help, for translating them: `operators.calls`; put together of a word and of
            texts that exist: `baseline operators.calls`; empty if they exist only in English
    hidden  tables of people and agents leave it out until it is asked for
    """

    key: str
    label: str
    type: ColumnType
    unit: Unit | None
    help: str
    id: str = ""
    hidden: bool | UnsetType = UNSET


def by_key(group: str, *definitions: Definition) -> dict[str, Definition]:
    """By their keys; those that have no id yet are of the group."""
    return {d.key: d if d.id else replace(d, id=f"{group}.{d.key}") for d in definitions}
