"""What `ingest` says of a run, as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.cli.saying import safe
from torch_tb_profiler.ingest.together import RunOutcome
from torch_tb_profiler.ranks.run_answers import MissingCollective, RunTiles
from torch_tb_profiler.ranks.straggler_text import milliseconds, straggler_lines
from torch_tb_profiler.workspace.cache.shared_cache import CatalogSkipped

#: of files and notes that are listed
_MOST = 20


def table_of(run: RunOutcome) -> str:
    """A line for each thing to know, stragglers first."""
    lines = [f"{run.run}, span {run.span}" if run.span != "default" else run.run]
    if run.result is not None:
        overview = run.result.overview
        lines += _tiles(overview.tiles)
        lines += [f"  {word:<10} {text}" for word, text in straggler_lines(overview.stragglers)] or [
            "  slow       no rank is clearly slow"
        ]
        lines += [
            f"  slow link  {link.group} ({', '.join(link.hosts)}): {milliseconds(link.extra_ns)} a step more, "
            f"× {link.ratio:.2f}"
            for link in overview.slow_links
        ]
        lines += _listed("missing", [_missing(each) for each in overview.missing])
        lines += _listed("note", [note.text for note in overview.notes])
    lines += _listed("failed", _files(run.failed))
    lines += _listed("skipped", _files(run.skipped))
    return "\n".join(map(safe, lines))


def _tiles(tiles: RunTiles) -> list[str]:
    expected = "" if tiles.expected is None else f" of {tiles.expected:,}"
    lines = [f"  ranks      {tiles.present:,}{expected}"]
    times = [
        (f"step {milliseconds(tiles.step_ns)}", tiles.step_ns),
        (f"exposed wait {milliseconds(tiles.exposed_wait_ns)}", tiles.exposed_wait_ns),
        (f"exposed transfer {milliseconds(tiles.exposed_transfer_ns)}", tiles.exposed_transfer_ns),
        (f"lost to slow ranks {milliseconds(tiles.lost_ns)}", tiles.lost_ns),
    ]
    known = [text for text, value in times if value is not None]
    return [*lines, f"  per step   {', '.join(known)}"] if known else lines


def _missing(of: MissingCollective) -> str:
    number = "" if of.sequence is None else f" number {of.sequence}"
    step = "" if of.step is None else f", step {of.step}"
    ranks = ", ".join("?" if rank is None else str(rank) for rank in of.ranks)
    doubt = "" if of.exact else "; one of several equal ones"
    stops = "; nothing follows in the group: it may hang there" if of.stops else ""
    return f"{of.name}{number} of {of.group}{step}: not on rank {ranks}{doubt}{stops}"


def _files(files: Sequence[CatalogSkipped]) -> list[str]:
    return [f"{each.file} {each.text}" for each in files]


def _listed(what: str, texts: Sequence[str]) -> list[str]:
    lines = [f"  {what:<10} {text}" for text in texts[:_MOST]]
    return [*lines, f"  {what:<10} and {len(texts) - _MOST} more"] if len(texts) > _MOST else lines
