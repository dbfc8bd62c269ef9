"""What the columns of the critical path's pieces mean."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

PATH_PIECES = by_key(
    "path",
    Definition("step", "Step", "string", None, "The step whose path the piece is on."),
    Definition(
        "name",
        "Name",
        "string",
        None,
        "What ran: the kernel or copy; on the host the innermost operator, annotation or call, or the Python "
        "function while the interpreter runs; for a delay, what came after it.",
    ),
    Definition("part", "Part", "string", None, "What the time of the path is spent on there."),
    Definition("start_ns", "Start", "number", "ns", "Time since the start of the trace."),
    Definition("duration_ns", "Duration", "number", "ns", "How long the path stays there."),
    Definition("track", "Track", "string", None, "Thread of the host, or stream of the device; empty for delays."),
    Definition("row", "Event", "number", None, "Number of the event in the file, counted from 0."),
)
