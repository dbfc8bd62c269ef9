"""When a rank computes on the host: for traces in which no kernel computes."""

from __future__ import annotations

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.innermost import innermost
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication_names import is_host_communication
from torch_tb_profiler.model.owners.call_owners import COMPILED_CODE

#: `aten::mm`, `mylib::op.out`: what PyTorch's dispatcher calls. Nodes of autograd, and ranges of its engine and of the
#: reducer, have other names: hooks run in them, which may wait for other ranks
_DISPATCHED = lazy_pattern(r"[A-Za-z_]\w*::\w[\w.]*$")
#: a kernel of Inductor for the host, within compiled code
_CPP = lazy_pattern(r"(?:graph_\d{1,9}_)?cpp_")


@cached
def host_computing(model: Model) -> Spans:
    """While the innermost operator of a thread is one of the dispatcher, or compiled code, outside of communication.

    What is inside of a call of communication, on the same thread, is part of it.
    """
    tree, strings = model.tree, model.trace.strings
    communicates = strings.where(is_host_communication, tree.name)[tree.name]
    computes = tree.is_operator & strings.where(_computes, tree.name)[tree.name]
    start, end, of = innermost(tree, tree.is_operator | communicates)
    within = nearest(tree.parent, communicates, of) >= 0
    chosen = computes[of] & ~within
    return intervals.union(start[chosen], end[chosen])


def _computes(name: str) -> bool:
    return bool(_DISPATCHED.match(name) or COMPILED_CODE.match(name) or _CPP.match(name))
