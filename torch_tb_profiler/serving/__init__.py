"""Starting what shows the page: a server of its own, a server in a notebook, one file.

Belongs here: what commands and the Python API need of `web` in order to start it. Does not belong here: routes and
answers (`web`), arguments of commands (`cli`).
"""

from __future__ import annotations

from functools import partial

from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.workspace import open_workspace

#: as `open_workspace`; what the page asks first is answered as soon as a trace has been read
open_for_page = partial(open_workspace, questions=PREFETCHED)
