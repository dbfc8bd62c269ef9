"""Parts of a step have one name and one colour, on the page and outside of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torch_tb_profiler.analysis.waterfall.causes import ALL, part_color
from torch_tb_profiler.words.files import part_name

ENTRY = re.compile(r'^\s*"?([\w.-]+)"?: "([^"]*)",$', re.MULTILINE)


def table(text: str, name: str) -> dict[str, str]:
    """An object of constants in TypeScript."""
    found = re.search(rf"{name}[^={{]*(?:= (?:bare\()?)?{{\n(.*?)\n}}", text, re.DOTALL)
    assert found is not None, name
    return dict(ENTRY.findall(found[1] + "\n"))


def longest_end(cause: str, of: dict[str, str]) -> str | None:
    """As `known` of the page looks things up: the longest end of an id, else what stands before it."""
    words = cause.split(".")
    ends = [words[begin:end] for end in range(len(words), 0, -1) for begin in range(end)]
    return next((of[".".join(each)] for each in ends if ".".join(each) in of), None)


@pytest.fixture(scope="module")
def ui(repository: Path) -> Path:
    return repository / "fe" / "src"


def test_every_part_has_a_name() -> None:
    assert [each.cause for each in ALL if part_name(each.cause) == each.cause] == []


def test_colours_are_those_of_the_page(ui: Path) -> None:
    text = (ui / "draw" / "parts.ts").read_text("utf-8")
    light = (ui / "draw" / "parts.css").read_text("utf-8").partition('[data-theme="dark"]')[0]
    colors = dict(re.findall(r"--part-([\w-]+): (#\w+);", light))
    families = re.search(r"FAMILIES = \{(.*?)\n\}", text, re.DOTALL)
    assert families is not None
    of = table(text, "OF_PART") | {
        f"compute.{kind}": family
        for family, kinds in re.findall(r"(\w+): \[(.*?)\]", families[1])
        for kind in re.findall(r'"(\w+)"', kinds)
    }
    for cause in (meaning.cause for meaning in ALL):
        name = of.get(cause, "kernel") if cause.startswith("compute.") else longest_end(cause, of)
        assert name is not None
        assert part_color(cause) == colors[name], cause


def test_what_is_not_known_is_called_by_its_id() -> None:
    assert part_name("moon") == "moon"
    assert part_color("moon") == part_color("idle.unknown")
