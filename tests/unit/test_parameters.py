"""From the query of a request to the parameters of a question, and what the document says of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from torch_tb_profiler.web.http import HttpError, Parameters, query_parameters, read_parameters


class Asked(msgspec.Struct, frozen=True):
    name: Annotated[str, Meta(description="A name.", min_length=1, max_length=3)]
    order: Literal["up", "down", "aside"] = "up"
    count: Annotated[int, Meta(ge=1, le=9)] = 5
    share: Annotated[float, Meta(ge=0, le=1)] = 0.5
    factor: float = 1.0
    time: Annotated[Decimal | None, Meta(extra={"unit": "microseconds"})] = None
    row: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="A row.")] = None


def read(**values: str) -> Asked:
    return read_parameters(Asked, Parameters({"name": "a", **values}))


def test_what_is_not_said_has_its_default() -> None:
    assert read() == Asked("a")


def test_values() -> None:
    found = read(order="aside", count="9", share="0.25", factor="-3e2", time="1.001", row="0", other="x")
    assert found == Asked("a", "aside", 9, 0.25, -300.0, Decimal("1.001"), 0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": ""}, "name must have 1 to 3 characters"),
        ({"name": "long"}, "name must have 1 to 3 characters"),
        ({"order": "sideways"}, "order must be one of up, down, aside"),
        ({"count": "0"}, "count must be a whole number from 1 to 9"),
        ({"count": "5.0"}, "count must be a whole number from 1 to 9"),
        ({"share": "1.5"}, "share must be a number from 0 to 1"),
        ({"share": "nan"}, "share must be a number from 0 to 1"),
        ({"factor": "nan"}, "factor must be a number"),
        ({"factor": "inf"}, "factor must be a number"),
        ({"factor": "much"}, "factor must be a number"),
        ({"time": "soon"}, "time must be a number of microseconds"),
        ({"time": "1e30"}, "time must be a number of microseconds"),
    ],
)
def test_values_that_cannot_be(values: dict[str, str], message: str) -> None:
    with pytest.raises(HttpError) as raised:
        read(**values)
    assert (raised.value.status, str(raised.value)) == (400, message)


def test_what_is_missing() -> None:
    with pytest.raises(HttpError, match="Must specify name in request url"):
        read_parameters(Asked, Parameters({}))


def test_the_document_says_the_same() -> None:
    found = {each["name"]: each for each in query_parameters(Asked)}
    assert [name for name, each in found.items() if each.get("required")] == ["name"]
    assert found["order"]["schema"] == {"type": "string", "enum": ["up", "down", "aside"], "default": "up"}
    assert found["count"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}
    assert found["row"]["schema"] == {"type": "integer", "minimum": 0}
    assert found["row"]["description"] == "A row."
