"""What memory a load takes, and a server after all views were visited: python -m benchmarks.held [SIZE...]

Of this checkout as it is, on the traces of `make bench` (1M by default).
"""

from __future__ import annotations

import signal
import sys

from benchmarks.data import SIZES
from benchmarks.environments import ROOT
from benchmarks.requests import requests_for, visited
from benchmarks.servers import stand_alone


def main() -> None:
    from torch_tb_profiler.web.app import ROUTES  # of the checkout, measured as it is

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    for name in sys.argv[1:] or ["1M"]:
        size = SIZES[name]
        size.make()
        requests = visited(requests_for(ROUTES, size.directory.name, size.workers()))
        program = [sys.executable, "-m", "torch_tb_profiler"]
        environment = {"PYTHONPATH": str(ROOT)}
        found = stand_alone(size.directory, 1, requests, size.seconds, environment, program=program, settled=True)
        loaded, held, by_all = (round(found[key] / 1e6) for key in ("loaded", "held", "held_by_all"))
        sys.stdout.write(
            f"{name}: at most {loaded} MB in all processes until everything is prepared; "
            f"after all views {held} MB in the server, {by_all} MB in all processes\n"
        )


if __name__ == "__main__":
    main()
