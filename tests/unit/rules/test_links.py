"""Each finding has a page that says more, and its address is well formed."""

from __future__ import annotations

import inspect
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from torch_tb_profiler import words
from torch_tb_profiler.insights import RULES, Link, Rule
from torch_tb_profiler.insights.rule import link
from torch_tb_profiler.toml_text import toml_of

#: documentation that is kept
HOSTS = {"docs.pytorch.org", "docs.nvidia.com", "docs.python.org", "rocm.docs.amd.com"}


def links() -> list[Link]:
    """All that are written down."""
    text = (Path(words.__file__).parent / "en/links.toml").read_text("utf-8")
    return [link(key) for key in toml_of(text)["titles"]]


def test_addresses_are_of_documentation() -> None:
    assert len(links()) > 40
    for each in links():
        parts = urlsplit(each.url)
        assert parts.scheme == "https", each
        assert parts.netloc in HOSTS, each
        assert parts.path.endswith(".html"), each
        assert not set(each.url) & set(" ,()<>\"'"), each
        assert each.text == each.text.strip() != "", each


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_each_rule_has_one(rule: Rule) -> None:
    find = inspect.unwrap(rule.find)
    module, source = inspect.getmodule(find), inspect.getsource(find)
    called = [of for name, of in inspect.getmembers(module, inspect.isfunction) if f"{name}(" in source]
    assert "links=" in "".join(map(inspect.getsource, [find, *called])), "a finding without a page that says more"
