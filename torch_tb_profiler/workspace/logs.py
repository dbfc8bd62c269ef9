"""The log: one logger for the package, on stderr, at the level TORCH_PROFILER_LOG_LEVEL asks for."""

from __future__ import annotations

import logging
import os

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

_NAME = "torch_tb_profiler"


def configure() -> None:
    """Print the log of this package; once, however often it is called."""
    logger = logging.getLogger(_NAME)
    if logger.handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname).1s %(asctime)s torch_profiler: %(message)s"))
    logger.addHandler(handler)
    # TensorBoard's own handler would print each line a second time.
    logger.propagate = False
    wanted = os.environ.get("TORCH_PROFILER_LOG_LEVEL", "INFO").strip().upper()
    logger.setLevel(wanted if wanted in LEVELS else "INFO")
    if wanted not in LEVELS:
        logger.warning("TORCH_PROFILER_LOG_LEVEL=%s is none of %s; INFO is used", wanted, ", ".join(LEVELS))
