"""`torch-tb-profiler report`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.defaults import MOST_REPORTED, declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.discovery import RunFiles, TraceFile


class ReportCommand:
    """Write a trace, or a run, with all views into one HTML file that needs no server."""

    name = "report"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", help="a trace file, a run's directory, or a log directory")
        parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write")
        parser.add_argument("--run", help="which run of a log directory")
        parser.add_argument(
            "--worker",
            action="append",
            default=[],
            help=f"a worker of the run; may be given several times (default: the first {MOST_REPORTED} traces)",
        )
        parser.add_argument("--span", help="which recording of the workers")
        parser.add_argument(
            "--compare",
            metavar="BASE",
            help="include a baseline for the Diff view: a trace, a run's directory, or LOGDIR/RUN~WORKER~SPAN",
        )
        declare_cache_dir(parser)
        parser.epilog = (
            "Examples:\n"
            "  torch-tb-profiler report LOGDIR/RUN -o report.html\n"
            "  torch-tb-profiler report new/ --compare base/ -o report.html"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from msgspec.structs import replace

        from torch_tb_profiler.cli.messages import safe, tell
        from torch_tb_profiler.cli.work.outputs import replaced
        from torch_tb_profiler.cli.work.targets import target_of
        from torch_tb_profiler.cli.work.traces import chosen_run, chosen_traces
        from torch_tb_profiler.discovery import Root, RunListing
        from torch_tb_profiler.serving import open_for_page
        from torch_tb_profiler.serving.servers import report_of
        from torch_tb_profiler.workspace import process
        from torch_tb_profiler.workspace.local_workspace import address_of

        process.configure_logging()
        target = target_of(arguments, arguments.output)
        address = address_of(arguments.path)
        workers = arguments.worker or ([address.worker] if address.worker else [])
        run = chosen_run(address.path, arguments.run)
        files = chosen_traces(run, workers, arguments.span or address.span)[: None if workers else MOST_REPORTED]
        if not workers and len(files) < len(run.traces):
            print(f"the first {len(files)} of {len(run.traces)} traces; --worker and --span choose others")
        beside = [] if arguments.compare is None else [_baseline(arguments.compare, files, run.name)]
        chosen = RunListing((replace(run, traces=tuple(files)), *beside), ())
        workspace = open_for_page([Root(address.path)], arguments.cache_dir, listing=chosen)
        try:
            page = report_of(workspace, run.name, [each.name for each in beside], tell)
        finally:
            workspace.close()
        with replaced(target) as part:
            part.write_bytes(page)
        print(f"{safe(str(target.path))}: {len(page) / 1000**2:.1f} MB")


def _baseline(path: str, files: Sequence[TraceFile], name: str) -> RunFiles:
    """Return the run that the others are compared with, under a name of its own: a trace of each of their workers.

    Raises UserError.
    """
    from msgspec.structs import replace

    from torch_tb_profiler.cli.work.traces import chosen_run, chosen_traces
    from torch_tb_profiler.workspace.local_workspace import address_of

    address = address_of(path)
    run = chosen_run(address.path, None)
    of_trace = [address.worker] if address.worker else []
    traces = [file for file in chosen_traces(run, of_trace, address.span) if file.kind == "trace"]
    alike = [file for file in traces if file.worker in {each.worker for each in files}] or traces[:1]
    if not alike:
        raise UserError(f"{path} contains no trace to compare with")
    title = run.name if run.name != name else f"{run.name} (baseline)"
    return replace(run, name=title, traces=tuple(alike[:MOST_REPORTED]))
