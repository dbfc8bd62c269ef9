"""Each finding has a page that says more, and its address is well formed."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import torch_tb_profiler.insights
from torch_tb_profiler.insights import RULES, Link, Rule

PACKAGE = Path(torch_tb_profiler.insights.__file__).parent
#: documentation that is kept
HOSTS = {"docs.pytorch.org", "docs.nvidia.com", "docs.python.org", "rocm.docs.amd.com"}


def links() -> list[Link]:
    """All that are written down in the package."""
    nodes = (node for path in sorted(PACKAGE.rglob("*.py")) for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    calls = (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return [Link(*map(ast.literal_eval, call.args)) for call in calls if ast.unparse(call.func) == "Link"]


def test_addresses_are_of_documentation() -> None:
    assert len(links()) > 40
    for link in links():
        parts = urlsplit(link.url)
        assert parts.scheme == "https", link
        assert parts.netloc in HOSTS, link
        assert parts.path.endswith(".html"), link
        assert not set(link.url) & set(" ,()<>\"'"), link
        assert link.text == link.text.strip() != "", link


def test_a_key_is_one_page() -> None:
    pages: dict[str, set[tuple[str, str]]] = {}
    for link in links():
        pages.setdefault(link.key, set()).add((link.text, link.url))
    assert {key: said for key, said in pages.items() if len(said) > 1} == {}


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_each_rule_has_one(rule: Rule) -> None:
    module = inspect.getmodule(rule.find)
    assert module is not None
    source = inspect.getsource(module)
    assert "links=" in source, "a finding without a page that says more"
