"""Every command and every piece of code of the documentation does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.pages import PROGRAMS, Block, Command, Reader, agrees, all_pages, blocks_in, blocks_of
from tests.recorded import ROOT

_BEGINS = re.compile(rf"^(?:\$ )?(?:{'|'.join(map(re.escape, PROGRAMS))}) ", re.MULTILINE)
#: has a test of its own below
STORY = ROOT / "docs" / "find-the-bottleneck.md"
#: all of their blocks are run, and looked at, by tests/unit: test_gate_guide, test_mcp_docs, sql/test_sql_docs
ELSEWHERE = {ROOT / "docs" / name for name in ("gate-your-ci.md", "for-agents.md", "sql.md")}
RUN = [
    page for page in all_pages() if page not in {STORY, *ELSEWHERE} and any(block.is_run for block in blocks_of(page))
]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_followed(page: Path, reader: Reader) -> None:
    reader.follow(blocks_of(page))
    _skip_what_takes_torch(reader)


def test_how_to_find_the_bottleneck(reader: Reader) -> None:
    """The page says what the samples say: its sentences, the output of its command, its numbers."""
    text = STORY.read_text("utf-8")
    # recording the sample anew would give other numbers
    blocks = [block for block in blocks_of(STORY) if "examples/" not in block.text]
    reader.follow(blocks)
    for name in ("before", "after"):
        quoted = reader.names[name].answer("overview").bound.sentence
        assert quoted in text.replace("\n> ", " ")
    predicted, after = reader.names["predicted"], reader.names["after"]
    for ns in (predicted.before_ns / 6, np.median(predicted.step_after_ns), after.summary().steps.median_ns):
        assert f"{ns / 1e6:.1f} ms" in text


def _skip_what_takes_torch(reader: Reader) -> None:
    if reader.skipped:
        pytest.skip(f"the rest was run; no torch (TORCH_PYTHON=… names a Python that has it) for {reader.skipped}")


def test_pages_are_run() -> None:
    names = {str(page.relative_to(ROOT)) for page in RUN}
    assert {"README.md", "docs/python.md", "docs/report.md", "docs/recording.md"} <= names


def test_a_command_is_marked_as_one() -> None:
    """Where it is not, nothing would run it."""
    unmarked = [
        block.place
        for page in all_pages()
        for block in blocks_of(page)
        if block.language in ("", "text", "bash", "shell") and _BEGINS.search(block.text)
    ]
    assert unmarked == []


def test_what_is_not_run_says_why() -> None:
    blocks = [block for page in all_pages() for block in blocks_of(page) if "not-run" in block.options]
    assert [block.place for block in blocks if len(block.options["not-run"].split()) < 3] == []


# of the owner itself ---------------------------------------------------------------------------------------


def blocks(text: str) -> list[Block]:
    return blocks_in(text, ROOT / "docs" / "no-such-page.md")


def test_commands_and_what_they_print() -> None:
    text = "```console\n$ one \\\n  two\nsaid\n\nmore\n$ three\n```\n"
    (block,) = blocks(text)
    assert block.commands == [Command("one \\\n  two", "said\n\nmore"), Command("three", None)]


@pytest.mark.parametrize(
    ("said", "written", "right"),
    [
        ("a 12 b\n", "a … b", True),
        ("a\nb\nc\n", "a\n…\nc", True),
        ("a\nb\nc\n", "a\nc", False),
        ("a.b", "axb", False),
        ("a b c", "a b", False),
    ],
)
def test_an_output(said: str, written: str, right: bool) -> None:
    assert agrees(said, written) is right


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ false\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ false | cat\n```\n",
        "```console\n$ make no-such-target\n```\n",
        "```console\n$ pip install 'torch-tb-profiler[nothing]'\n```\n",
        "```console\n$ torch-tb-profiler serve no/such/folder\n```\n",
        "```console\nno command\n```\n",
        "```python\nassert 1 == 2\n```\n",
        "```python\nundefined\n```\n",
    ],
)
def test_a_wrong_page_is_noticed(text: str, reader: Reader) -> None:
    with pytest.raises((AssertionError, NameError)):
        reader.follow(blocks(text))


def test_code_is_one_program_where_the_commands_run(reader: Reader) -> None:
    text = """
```console
$ echo 7 > number
```

```python
from pathlib import Path
number = int(Path("number").read_text())
```

```python not-run="takes what is not here"
undefined
```

```python
assert number == 7
```
"""
    reader.follow(blocks(text))
    assert reader.names["number"] == 7


def test_a_block_says_where_it_stands() -> None:
    assert Block(ROOT / "docs" / "python.md", 3, "python", {}, "").place == "docs/python.md:3"
