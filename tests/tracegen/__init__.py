"""A deterministic generator of GPU training traces whose right answers are known.

A transformer is trained on simulated clocks; see `training`. While the events are made, the
simulation keeps the sums an analysis must find; see `expected`. Nothing here uses the package
under test.

    trace, expected = generate(Config(steps=2, layers=2))
    write_run(Config(ranks=8, events=1_000_000), Path("logs/big"))
    python -m tests.tracegen --out logs/big --ranks 8 --events 1000000
"""

from .config import Config
from .expected import Collective, Expected, Launch, OpTruth
from .model import Shape
from .writer import generate, generate_ranks, write_run

__all__ = [
    "Collective",
    "Config",
    "Expected",
    "Launch",
    "OpTruth",
    "Shape",
    "generate",
    "generate_ranks",
    "write_run",
]
