"""Where the time of the steps went: parts that exclude each other and add up to each step exactly."""

from torch_tb_profiler.analysis.waterfall.waterfall import Gaps, Part, Waterfall, average, waterfall

__all__ = ["Gaps", "Part", "Waterfall", "average", "waterfall"]
