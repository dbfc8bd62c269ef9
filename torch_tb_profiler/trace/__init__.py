"""A trace file as tables of columns: the schema, the tolerant reader, the vocabulary and the column file.

Belongs here: everything that knows how trace files are written (spellings, units, damage) and how the columns
are kept on disk. Does not belong here: what the events mean together (`model`) or any number a user asks for
(`analysis`). Nothing above this package ever looks at JSON of a trace again, except the raw arguments of one
event that a person asked to see.
"""

from torch_tb_profiler.trace.notes import Note, Notes, Severity
from torch_tb_profiler.trace.reader import Progress, TraceError, read_to_file, read_trace
from torch_tb_profiler.trace.schema import Category, Phase
from torch_tb_profiler.trace.store import Header, Strings, Trace, Track
from torch_tb_profiler.trace.unpack import Limits

__all__ = [
    "Category",
    "Header",
    "Limits",
    "Note",
    "Notes",
    "Phase",
    "Progress",
    "Severity",
    "Strings",
    "Trace",
    "TraceError",
    "Track",
    "read_to_file",
    "read_trace",
]
