"""A trace file as tables of columns: the schema, the tolerant reader, the vocabulary and the column file.

Belongs here: everything about how trace files are written (spellings, units, damage) and how columns are stored. Does
not belong here: what the events mean together (`model`) or any number that is shown (`analysis`). Nothing above this
package reads the JSON of a trace, except for the raw arguments of one event.

From bytes to columns, as `reader` puts it together:

    unpack, readable           stored file → text (gzip, Zstandard), which can be read again
    text, json_scan            text → header, chunks of whole events, tail; also where the text is damaged
    decode, repair, events     chunk → typed events; almost JSON → JSON; arguments of any key
    vocabulary, times, tracks  spellings → one phase, category and name; µs → ns; pid and tid → tracks
    collect, column_buffers    events → rows of the tables of `schema`, row group by row group
    together, helper           the same by several processes: chunks go to helpers, rows keep the order of the file
    store, lazy_columns        a trace in memory: header, strings, tracks, tables, each read when first used
    column_file, column_blocks, files   tables on disk, in compressed blocks; the files that stay open
    durations, notes           impossible durations are cut, `B` and `E` become one event; notes say what was wrong
    rewrite, excerpts          back to the text: a file with events added, a window of it, the arguments of one event
"""

from torch_tb_profiler.trace.notes import Note, Notes, Severity, note
from torch_tb_profiler.trace.reader import ReadProgress, TraceError, read_to_file, read_trace
from torch_tb_profiler.trace.schema import Category, EventPhase
from torch_tb_profiler.trace.store import Header, StringTable, Trace, Track
from torch_tb_profiler.trace.unpack import Limits

__all__ = [
    "Category",
    "EventPhase",
    "Header",
    "Limits",
    "Note",
    "Notes",
    "ReadProgress",
    "Severity",
    "StringTable",
    "Trace",
    "TraceError",
    "Track",
    "note",
    "read_to_file",
    "read_trace",
]
