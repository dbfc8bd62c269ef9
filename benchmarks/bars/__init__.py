"""The bars that are demanded (issue 3, "Speed and memory", and those of later issues), and whether a measurement meets
them. Pure.
"""

from __future__ import annotations

from benchmarks.bars import (
    command_line,
    flops,
    growth,
    large_file,
    load,
    many_ranks,
    memory,
    pages,
    program,
    replay,
    sql,
    stores,
)

BARS = (
    *load.BARS,
    *pages.BARS,
    *stores.BARS,
    *replay.BARS,
    *flops.BARS,
    *program.BARS,
    *growth.BARS,
    *many_ranks.BARS,
    *memory.BARS,
    *sql.BARS,
    *command_line.BARS,
    *large_file.BARS,
)
