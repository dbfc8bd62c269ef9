"""A deterministic generator of GPU training traces whose right answers are known.

A transformer is trained on simulated clocks; see `training`. While the events are made, the
simulation keeps the sums an analysis must find; see `expected`. Nothing here uses the package
under test.

    trace, expected = generate(Config(steps=2, layers=2))
    write_run(Config(ranks=8, events=1_000_000), Path("logs/big"))
    python -m tests.tracegen --out logs/big --ranks 8 --events 1000000

Jobs of many ranks, with layouts, clocks and planted faults: `job` says what can be asked for, `cluster_run` what is
true of it.

    write_job(Job(tp=2, dp=8, pp=4, faults=(SlowGpu(37),)), Path("logs/job"))
"""

from .cluster_run import JobRun, Named, simulate_job
from .cluster_writer import trace_of, write_job
from .config import Config
from .expected import Collective, Expected, Launch, OpTruth
from .job import FewerSteps, Job, Late, Missing, MoreTokens, SlowGpu, SlowInput, SlowLink
from .model import Shape
from .writer import generate, generate_ranks, write_run

__all__ = [
    "Collective",
    "Config",
    "Expected",
    "FewerSteps",
    "Job",
    "JobRun",
    "Late",
    "Launch",
    "Missing",
    "MoreTokens",
    "Named",
    "OpTruth",
    "Shape",
    "SlowGpu",
    "SlowInput",
    "SlowLink",
    "generate",
    "generate_ranks",
    "simulate_job",
    "trace_of",
    "write_job",
    "write_run",
]
