"""What two traces are side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torch_tb_profiler.analysis.compare.diff import Comparison, Delta, Times
from torch_tb_profiler.analysis.compare.whole_times import WholeTimes

if TYPE_CHECKING:
    import pandas as pd


class Compared(msgspec.Struct, frozen=True):
    """Two traces side by side: sums of the whole traces, and every operator and kernel by name.

    left_sums, right_sums   what `left` and `right` are the sums of: parts, work launched before the recording, the rest
    """

    left: Times
    right: Times
    operators: Delta
    kernels: Delta
    parts: Comparison
    left_sums: WholeTimes
    right_sums: WholeTimes

    def to_pandas(self) -> pd.DataFrame:
        """The operators."""
        return self.operators.to_pandas()
