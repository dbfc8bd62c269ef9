"""A trace file as tables of columns: the schema, the tolerant reader, the vocabulary and the column file.

Belongs here: everything about how trace files are written (spellings, units, damage) and how columns are stored. Does
not belong here: what the events mean together (`model`) or any number that is shown (`analysis`). Nothing above this
package reads the JSON of a trace, except for the raw arguments of one event.

    schema          tables and columns; a new field of trace files is one line there
    vocabulary      spellings of phases, categories and names
    unpack, ahead   stored file → text, of which some can be read again
    chunk, text     text → chunks of whole events
    json_scan       where strings, objects and lists end in damaged text
    repair          almost JSON → JSON
    events, decode  chunk → typed events
    gather          events → what becomes their rows: arguments, times, tracks; also what another process gathered
    collect         what was gathered → rows of tables, row group by row group
    table_writer    what rows are handed to: memory, or column_file
    batches, helper chunks that another process decodes, and that process
    together        one file, decoded by several processes
    reader          all of it together
    store           a trace: header, strings, tracks, tables
    raw_event       the arguments of one event, from the file
    rewrite         a trace file with events added, or a part of it
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
