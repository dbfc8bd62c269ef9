"""Results as notebooks and data frames have them.

Belongs here: columns with their definitions, a table as HTML, as Arrow and as Polars. Does not belong here: any number;
a page, which the UI draws.
"""

from torch_tb_profiler.analysis.shown.columns import columns_of
from torch_tb_profiler.analysis.shown.grid import Grid
from torch_tb_profiler.analysis.shown.shown import Shown
from torch_tb_profiler.analysis.shown.texts import harmless, text_of

__all__ = ["Grid", "Shown", "columns_of", "harmless", "text_of"]
