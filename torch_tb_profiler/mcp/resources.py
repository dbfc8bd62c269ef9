"""Resources: answers of tools by address. Their names are fixed; no path is accepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import unquote

import msgspec

from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.mcp.declaration import Wrong
from torch_tb_profiler.mcp.fitting import compact, fitted
from torch_tb_profiler.mcp.tables import TABLES
from torch_tb_profiler.mcp.tools.summary import SUMMARY, OneTrace
from torch_tb_profiler.mcp.tools.traces import TRACES, WhichTraces

JSON, TEXT = "application/json", "text/markdown"
SUMMARY_TEMPLATE = "profile://{trace}/summary"

_FILTERS = """\
Conditions with spaces between them; all must hold. Capital and small letters are the same.

    conv relu                both words are in the name
    "a b"                    quotes keep spaces and signs
    calls>10                 > >= < <= = != with a number
    device_self_ms>5         columns as answers name them
    device_self_share>5%     share of the column's total
    operator="aten::mm"      exactly this text (!=: any other)
    tensor_cores_used=yes    yes, no or unknown
    name~^aten::             a regular expression is found in the column

sort: `-device_self_ms,name`: the most important column first, - for the largest first.
"""


class Resource(msgspec.Struct, frozen=True):
    """A resource without parameters.

    name, help  what it is
    kind        of its text
    """

    name: str
    help: str
    kind: str
    make: Callable[[Catalog], str]


def _tables(_: Catalog) -> str:
    return compact(
        {
            name: {
                "row": each.help,
                "group_by": list(each.groups),
                "columns": [column.key for column in each.defined.values()],
                "units": {c.key: c.unit for c in each.defined.values() if c.unit},
            }
            for name, each in TABLES.items()
        }
    )


def _traces(catalog: Catalog) -> str:
    return fitted(TRACES, TRACES.compute(catalog, WhichTraces()))[1]


RESOURCES: Mapping[str, Resource] = {
    "profile://traces": Resource("traces", "The traces that there are.", JSON, _traces),
    "profile://tables": Resource("tables", "The tables of a trace: columns, units, groupings.", JSON, _tables),
    "profile://filters": Resource("filters", "How tables are filtered and sorted.", TEXT, lambda _: _FILTERS),
}


def read(catalog: Catalog, uri: str) -> tuple[str, str]:
    """Kind and text of a resource. Raises Wrong and ProfileError."""
    found = RESOURCES.get(uri)
    if found is not None:
        return found.kind, found.make(catalog)
    begin, end = SUMMARY_TEMPLATE.split("{trace}")
    if uri.startswith(begin) and uri.endswith(end) and len(uri) > len(begin) + len(end):
        trace = unquote(uri[len(begin) : -len(end)])
        return JSON, fitted(SUMMARY, SUMMARY.compute(catalog, OneTrace(trace=trace)))[1]
    raise Wrong("there is no such resource")
