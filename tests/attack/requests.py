"""Requests made from the OpenAPI document, with values that nobody would send, and what must hold for each answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from werkzeug.test import Client

from tests.attack.values import TEXTS
from tests.openapi_requests import fill, requests_to

Query = dict[str, str]

#: statuses of requests that are answered, refused, or about what is not there (yet)
EXPECTED = frozenset({200, 304, 400, 404, 409, 422})
#: bytes of an answer: what no page could show
LARGEST = 64_000_000


@dataclass
class Asked:
    """What came of the requests: how many had which status, and what was wrong, as the address and a sentence."""

    statuses: dict[int, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)

    def ask(self, client: Client, url: str, headers: Mapping[str, str] | None = None) -> None:
        response = client.get(url, headers=dict(headers or {}))
        self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
        wrong = wrong_with(response.status_code, response.headers.get("Content-Type", ""), response.data)
        if wrong:
            self.complaints.append(f"{wrong}: {url[:500]}")


def wrong_with(status: int, content_type: str, body: bytes) -> str | None:
    """What no answer may be; None when nothing is wrong."""
    if status not in EXPECTED:
        return f"status {status} {body[:300]!r}"
    if len(body) > LARGEST:
        return f"{len(body)} bytes"
    if status == 304 or not content_type.startswith("application/json"):
        return None if status in (200, 304) else f"an error of type {content_type}"
    constants: list[str] = []
    try:
        content = json.loads(body, parse_constant=constants.append, parse_int=len)  # of any number of digits
    except ValueError as error:
        return f"no JSON ({error})"
    except RecursionError:  # of this reader: a trace is sent as it is, however deep
        return None if status == 200 else f"status {status} with a body that is nested deep"
    if constants:
        return f"{constants[0]} in JSON"
    if status != 200 and not (isinstance(content, dict) and isinstance(content.get("error"), str) and content["error"]):
        return f"status {status} without a reason"
    return None


def parameters_of(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """By path the parameters of the document, references followed."""

    def resolved(item: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in item:
            found: Any = document
            for key in item["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            item = found
        return item

    return {
        path: [resolved(each) for each in of["get"].get("parameters", [])] for path, of in document["paths"].items()
    }


def hostile_requests(
    document: dict[str, Any], places: Mapping[str, str], traces: Sequence[Query], count: int, seed: int
) -> Iterator[str]:
    """So many addresses.

    places  what stands for {row} and the like in `tests.openapi_requests`
    traces  `run`, `worker` (and `span`) of traces that there are
    """
    dice = random.Random(seed)
    parameters = parameters_of(document)
    paths = sorted(parameters)
    names = ("run", "worker", "span", "exp_run", "exp_worker", "exp_span")
    for number in range(count):
        path = paths[number % len(paths)]
        query = fill(dice.choice(requests_to(path)), places)
        if "run" in query and dice.random() < 0.8:
            query |= dice.choice(traces)
        known = [each["name"] for each in parameters[path]]
        if dice.random() < 0.9:  # else most answers would be that there is no such trace
            known = [name for name in known if name not in names] or known
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            if known and dice.random() < 0.95:
                name = dice.choice(known)
                query[name] = _value(dice, next(each for each in parameters[path] if each["name"] == name))
            else:
                query[dice.choice(TEXTS)[:200] or "x"] = dice.choice(TEXTS)
        if known and dice.random() < 0.05:
            query.pop(dice.choice(known), None)
        yield f"{path}?" + "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query.items())


def _value(dice: random.Random, parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kinds: list[str] = [str(each) for each in schema.get("enum", ())]
    for key in ("minimum", "maximum"):
        if key in schema:
            kinds += [str(schema[key]), str(schema[key] + 1), str(schema[key] - 1)]
    return dice.choice(kinds) if kinds and dice.random() < 0.3 else dice.choice(TEXTS)


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")
