"""What torch.compile left in a trace: compilations, calls of compiled regions, graph breaks."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import last_started, nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree

REGION = "Torch-Compiled Region"
#: one region for the whole backward pass: `!0/2/0`
COMPILED_BACKWARD = f"{REGION}: !"
BODY = "## Call CompiledFxGraph"
#: outermost of these a compilation is: of Dynamo, of one graph, or of a kernel
_COMPILING = lazy_pattern(r"dynamo$|entire_frame_compile\b|.*\(dynamo_timed\)$|_compile(?:\.|$)")
_RESUME = lazy_pattern(r"torch_dynamo_resume_in_(?P<function>\w{1,255}?)_at_(?P<line>\d{1,9})$")
_REGION_ID = lazy_pattern(r"Torch-Compiled Region: (?:!\d{1,9}/)?(?P<frame>\d{1,9})/(?P<code>\d{1,9})")


class Compiled(msgspec.Struct, frozen=True):
    """Positions in the call tree.

    compilations   outermost ranges in which something is compiled
    again          whether each of these precedes, or is inside, a region that was compiled before for other inputs
    regions        calls of compiled code, outermost ones
    nested         calls of compiled code directly inside another call: what follows a graph break
    is_used        whether any compiled code runs, also where its regions are not marked
    resumed        functions and lines behind which compiled code goes on, `forward:12`; only with stacks
    """

    compilations: Int64
    again: Int64
    regions: Int64
    nested: Int64
    is_used: bool
    resumed: tuple[str, ...]


@cached
def compiled(model: Model) -> Compiled:
    """Collect what is selected."""
    tree, strings = model.tree, model.trace.strings
    if not len(tree):
        none = np.empty(0, np.int64)
        return Compiled(none, none, none, none, False, ())
    compiling = strings.where(_COMPILING.match, tree.name)[tree.name]
    region = strings.where(lambda name: name.startswith(REGION), tree.name)[tree.name]
    body = strings.where(lambda name: name.startswith(BODY), tree.name)[tree.name]
    around = nearest(tree.parent, region | body, tree.parent)
    compilations = np.flatnonzero(compiling & (nearest(tree.parent, compiling, tree.parent) < 0))
    nested = np.flatnonzero(region & (around >= 0))
    # compiled autograd (`!0/2/0`) compiles the backward pass: that it runs inside is no break
    backward = strings.where(lambda name: name.startswith(COMPILED_BACKWARD), tree.name)[tree.name]
    nested = nested[region[around[nested]] & ~backward[nested]]
    frames = model.frames
    resumed = sorted(
        {
            f"{found['function']}:{found['line']}"
            for name in set(strings.texts(distinct(frames.name)))
            if (found := _RESUME.search(name)) is not None
        }
    )
    regions = np.flatnonzero(region & (around < 0))
    is_used = bool((region | body).any())
    return Compiled(compilations, _again(model, tree, compilations), regions, nested, is_used, tuple(resumed))


def _again(model: Model, tree: CallTree, compilations: Int64) -> Int64:
    """Select compilations of code that is not the first of its frame: the region that follows says so."""
    strings = model.trace.strings
    later = strings.where(
        lambda name: (again := _REGION_ID.match(name)) is not None and again["code"] != "0", tree.name
    )
    regions = np.flatnonzero(strings.where(lambda name: name.startswith(REGION), tree.name)[tree.name])
    if not len(regions):
        return compilations[:0]
    # the call tree is by thread and start
    at = last_started(tree.track[regions], tree.start[regions], tree.track[compilations], tree.end[compilations] - 1)
    first = np.searchsorted(tree.track[regions], tree.track[compilations])
    following = np.where(at >= 0, at.astype(np.int64) + 1, first)
    there = following < len(regions)
    node = regions[np.where(there, following, 0)]
    again: Int64 = compilations[there & (tree.track[node] == tree.track[compilations]) & later[tree.name[node]]]
    return again
