"""Single events of a trace."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

SLICES = by_key(
    "slices",
    Definition("row", "Event", "number", None, "Number of the event in the file, counted from 0."),
    Definition("name", "Name", "string", None, "Name of the event, as the file has it."),
    Definition(
        "category", "Category", "string", None, "What the event is, in one vocabulary for files of all versions."
    ),
    Definition("track", "Track", "string", None, "Where it ran: process and thread of the host, or device and stream."),
    Definition("start_ns", "Start", "number", "ns", "Time since the start of the trace."),
    Definition(
        "duration_ns", "Duration", "number", "ns", "From its start to its end, with everything that ran inside it."
    ),
)
