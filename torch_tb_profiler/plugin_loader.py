"""What TensorBoard imports at its start, for everybody.

An error here would stop TensorBoard for all its users, so nothing is imported but TensorBoard's own interface;
the plugin itself is imported in `load`, where a failure costs this plugin only.
"""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    from torch_tb_profiler.plugin import TorchProfilerPlugin


class TorchProfilerLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Makes the plugin, or says in the log why it cannot."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("PyTorch profiler")
        group.add_argument(
            "--torch_profiler_cache_dir",
            metavar="PATH",
            default="",
            help="where traces that were read once are kept: a directory, or a shared place that "
            "`torch-tb-profiler ingest` has filled, which may be an address such as s3://bucket/folder "
            "(default: TORCH_TB_PROFILER_CACHE_DIR, else torch_tb_profiler in the user's cache)",
        )
        group.add_argument(
            "--torch_profiler_workers",
            metavar="N",
            type=int,
            default=0,
            help="how many processes read traces (default: one per CPU, 4 at most)",
        )
        group.add_argument(
            "--torch_profiler_max_expansion",
            metavar="N",
            type=int,
            default=0,
            help="a packed trace is not read beyond N times its size, if that is more than 256 MiB "
            "(default: TORCH_TB_PROFILER_MAX_EXPANSION, else 400)",
        )

    def load(self, context: base_plugin.TBContext) -> TorchProfilerPlugin | None:
        try:
            from torch_tb_profiler.plugin import create_plugin

            return create_plugin(context)
        except Exception:
            logging.getLogger(__name__).exception("the PyTorch profiler plugin cannot be used")
            return None
