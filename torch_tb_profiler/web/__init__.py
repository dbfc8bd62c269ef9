"""The WSGI application: routes, and answers as JSON.

Belongs here: everything about HTTP and about the shape of answers: names, units, rounding, and the shapes of
the old plugin (`old_plugin`). Does not belong here: any number that is computed (`analysis`), any state
(`workspace`), TensorBoard (`plugin`). It runs below any path, in TensorBoard and without it.
"""

from __future__ import annotations

#: the function that names the answers which worker processes prepare, for `open_workspace`; servers need not load it
PREFETCHED = "torch_tb_profiler.web.prefetch:questions"
