"""From a listing to runs, workers and spans, and why something was skipped.

Belongs here: the rules that say which files are traces or memory snapshots, and what they are called. All of it is
pure: entries and first bytes in, runs out. Does not belong here: listing (`storage`), opening or watching files
(`workspace`).
"""

from __future__ import annotations

from torch_tb_profiler.discovery.content import Content, examine
from torch_tb_profiler.discovery.names import (
    DEFAULT_SPAN,
    Guess,
    Root,
    guess,
    is_candidate,
    named_roots,
    natural_key,
    parse_logdir,
    parse_logdir_spec,
    parse_name,
    why_skipped,
)
from torch_tb_profiler.discovery.runs import (
    RunFiles,
    RunListing,
    Skipped,
    TraceFile,
    TraceKind,
    discover,
    must_be_examined,
)

__all__ = [
    "DEFAULT_SPAN",
    "Content",
    "Guess",
    "Root",
    "RunFiles",
    "RunListing",
    "Skipped",
    "TraceFile",
    "TraceKind",
    "discover",
    "examine",
    "guess",
    "is_candidate",
    "must_be_examined",
    "named_roots",
    "natural_key",
    "parse_logdir",
    "parse_logdir_spec",
    "parse_name",
    "why_skipped",
]
