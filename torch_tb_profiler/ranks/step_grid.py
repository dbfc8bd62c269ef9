"""Steps of all ranks side by side, by their names."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Float64, Int64


class StepGrid(msgspec.Struct, frozen=True):
    """names: of all steps, in order; place: of each rank the column of each of its steps."""

    names: tuple[str, ...]
    place: tuple[Int64, ...]

    @classmethod
    def of(cls, steps: Sequence[Sequence[str]]) -> StepGrid:
        """steps: names of the steps of each rank. Names that are numbers are ordered as such."""
        known = list(dict.fromkeys(name for names in steps for name in names))
        if all(name.isdecimal() and len(name) < 19 for name in known):
            known.sort(key=int)
        column = {name: at for at, name in enumerate(known)}
        return cls(tuple(known), tuple(np.array([column[name] for name in names], np.int64) for names in steps))

    def whole(self, values: Sequence[npt.NDArray[np.integer]]) -> Int64:
        """Shape (ranks, steps): -1 where a rank lacks a step."""
        found = np.full((len(self.place), len(self.names)), -1, np.int64)
        for rank, (place, of) in enumerate(zip(self.place, values, strict=True)):
            found[rank, place] = of
        return found

    def real(self, values: Sequence[npt.NDArray[np.number]]) -> Float64:
        """Shape (ranks, steps): NaN where a rank lacks a step."""
        found = np.full((len(self.place), len(self.names)), np.nan)
        for rank, (place, of) in enumerate(zip(self.place, values, strict=True)):
            found[rank, place] = of
        return found
