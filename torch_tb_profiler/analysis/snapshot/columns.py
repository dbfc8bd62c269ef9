"""What is alive in a snapshot, how long allocations live, and the tree of their stacks."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

SNAPSHOT = by_key(
    "snapshot",
    Definition(
        "line",
        "Allocated at",
        "string",
        None,
        "Innermost frame of the user's own code in the stack of the allocation; if there is none, the innermost "
        "Python frame, otherwise the innermost frame.",
    ),
    Definition(
        "group",
        "Allocated in",
        "string",
        None,
        "By module: the innermost function that nn.Module.__call__ called. By annotation: the range of the program "
        "that had begun last, on any thread.",
    ),
    Definition("size", "Size of each", "number", "bytes", "Requested bytes of each; empty if they differ."),
    Definition("blocks", "Allocations", "number", "count", "How many allocations are in use."),
    Definition("bytes", "Requested", "number", "bytes", "Σ bytes that the program asked for."),
    Definition(
        "block_bytes",
        "Blocks",
        "number",
        "bytes",
        "Σ bytes of their blocks: requested bytes, rounded up by the allocator.",
    ),
    Definition(
        "difference",
        "Difference",
        "number",
        "bytes",
        "Requested bytes − those at the other moment.",
    ),
    Definition("median_ns", "Median lifetime", "number", "ns", "Lower median time from allocation to release."),
    Definition("longest_ns", "Longest lifetime", "number", "ns", "Longest time from allocation to release."),
    Definition("at_peak", "At the peak", "number", "bytes", "Requested bytes in use at the peak."),
    Definition("at_end", "At the end", "number", "bytes", "Requested bytes not released at the end."),
    Definition(
        "churn",
        "Short-lived",
        "number",
        "count",
        "Allocations of more than 1 MiB that were released within 100 µs.",
    ),
    Definition(
        "in_backward", "In backward", "number", "fraction", "1 if the autograd engine is in the stack, otherwise 0."
    ),
)

SNAPSHOT_LIFETIMES = {
    **SNAPSHOT,
    **by_key(
        "snapshot.lifetimes",
        Definition("blocks", "Allocations", "number", "count", "How many allocations were made in the recording."),
    ),
}

SNAPSHOT_AGAINST = by_key(
    "snapshot.against",
    Definition(
        "name",
        "Allocated at",
        "string",
        None,
        "The line, stack, module or annotation that the row is about, in both snapshots.",
    ),
    Definition("size", "Size of each", "number", "bytes", "Requested bytes of each."),
    Definition("blocks_before", "Allocations before", "number", "count", "How many were in use in the other snapshot."),
    Definition("blocks", "Allocations", "number", "count", "How many are in use in this one."),
    Definition("bytes_before", "Requested before", "number", "bytes", "Requested bytes in use in the other snapshot."),
    Definition("bytes", "Requested", "number", "bytes", "Requested bytes in use in this one."),
    Definition("difference", "Difference", "number", "bytes", "Requested bytes − those in the other snapshot."),
)

SNAPSHOT_RANKS = by_key(
    "snapshot.ranks",
    Definition("trace", "Snapshot", "string", None, "What distinguishes it from the others."),
    Definition("run", "Run", "string", None, "Name of the run."),
    Definition("worker", "Worker", "string", None, "Name of the worker."),
    Definition("span", "Moment", "string", None, "Which snapshot of the worker."),
    Definition(
        "peak_requested",
        "Peak requested",
        "number",
        "bytes",
        "The most memory that was requested and not released; empty without a history.",
    ),
    Definition(
        "difference",
        "To the median",
        "number",
        "bytes",
        "Peak requested - that of the median snapshot in the table; where a snapshot has no history, the same of what "
        "was in use at the end.",
    ),
    Definition("peak_reserved", "Peak reserved", "number", "bytes", "Most bytes of segments; empty without a history."),
    Definition("requested", "At the end", "number", "bytes", "Requested bytes in use at the end."),
    Definition("ooms", "Out of memory", "number", "count", "Failed allocations."),
    Definition(
        "line",
        "Differs most at",
        "string",
        None,
        "Line of the program whose bytes at the peak differ most from those in the median snapshot; empty if there "
        "is none.",
    ),
    Definition("line_bytes", "By", "number", "bytes", "Requested bytes of that line - those in the median snapshot."),
)

SNAPSHOT_STACKS = by_key(
    "snapshot.stacks",
    Definition("id", "Id", "number", None, "Identifies the frames from the outermost down to it."),
    Definition("parent", "Parent", "number", None, "Row of its caller; -1 at the top."),
    Definition("name", "Name", "string", None, "file(line): function of a frame."),
    Definition("self_bytes", "Self", "number", "bytes", "Requested bytes in use that it allocated itself."),
    Definition("total_bytes", "Total", "number", "bytes", "Self + Σ total of the entries directly below."),
    Definition("blocks", "Allocations", "number", "count", "How many it allocated itself."),
    Definition("folded", "Folded", "number", "count", "How many entries were folded into this one; 0 for all others."),
)
