"""What columns and causes mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.mcp.declaration import Asked, Told, Tool
from torch_tb_profiler.mcp.tables import definitions_of


class WhichNames(Asked, frozen=True, kw_only=True):
    """Which names."""

    names: Annotated[
        Sequence[str],
        Meta(description="Columns or causes, as answers name them; also `table.column`.", min_length=1, max_length=20),
    ]


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """What a name means in a table.

    name   of the column or cause
    table  whose column it is
    unit   of its values; null if they have none. Answers of tools have ns as milliseconds
    means  definition and formula
    """

    name: str
    table: str
    unit: str | None
    means: str


class DefinitionsTold(Told, frozen=True, kw_only=True):
    """Definitions.

    definitions  of the names, by table
    unknown      how many of the names have none
    """

    definitions: Sequence[Meaning]
    unknown: int


def _definitions(_: Catalog, asked: WhichNames) -> DefinitionsTold:
    found = [definitions_of(name) for name in asked.names]
    seen: dict[str, Meaning] = {}
    for table, each in (pair for pairs in found for pair in pairs):
        # the same words for the same column of several tables are said once
        seen.setdefault(f"{each.key} {each.help}", Meaning(name=each.key, table=table, unit=each.unit, means=each.help))
    return DefinitionsTold(definitions=list(seen.values()), unknown=sum(not pairs for pairs in found))


DEFINITIONS = Tool(
    name="definitions",
    title="Definitions",
    summary="Say what columns of tables and causes of time mean, with unit and formula.",
    arguments=WhichNames,
    answer=DefinitionsTold,
    compute=_definitions,
    budget=1_500,
    shrinks=("definitions",),
)
