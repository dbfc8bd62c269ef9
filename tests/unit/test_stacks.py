"""Call stacks: against brute force, on traces whose answer is known, and what must hold of every answer."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, Event, annotation, copy, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.shared.owners import NOT_RECORDED
from torch_tb_profiler.analysis.stacks.entries import OTHER_FILES, StackEntries
from torch_tb_profiler.analysis.stacks.flame_graph import stack_weights, stacks
from torch_tb_profiler.analysis.stacks.recorded import ANY_STEP, all_stacks
from torch_tb_profiler.analysis.stacks.stack_table import SMALLER, StackTable
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

Paths = dict[tuple[str, ...], int]


def of(model: Model, **options: Any) -> StackTable:
    found = stacks(model, **{"smallest_share": 0, **options})
    assert found is not None
    check(found)
    return found


def check(table: StackTable) -> None:
    """Nothing is lost, in any row."""
    below = np.bincount(table.parent[table.parent >= 0], table.total_ns[table.parent >= 0], len(table))
    assert (table.total_ns == table.self_ns + below).all()
    assert int(table.self_ns.sum()) == int(table.total_ns[table.parent < 0].sum()) == table.whole_ns
    assert (table.parent < np.arange(len(table))).all()
    assert len(set(table.id.tolist())) == len(table)
    assert (table.total_ns > 0).all()
    assert ((table.folded > 0) == (np.array(table.kind) == "smaller")).all()


def paths(table: StackTable, column: str = "self_ns", divide: int = US) -> Paths:
    """names from the top down → value in µs, where there is any."""
    found: list[tuple[str, ...]] = []
    for name, parent in zip(table.name, table.parent.tolist(), strict=True):
        found.append((*(found[parent] if parent >= 0 else ()), name))
    values = getattr(table, column).tolist()
    return {path: value // divide for path, value in zip(found, values, strict=True) if value}


# ---- against brute force


def merged_paths(found: StackEntries) -> Paths:
    names: list[tuple[str, ...]] = []
    for label, parent in zip(found.label.tolist(), found.parent.tolist(), strict=True):
        names.append((*(names[parent] if parent >= 0 else ()), found.labels.names[label]))
    return {path: ns for path, ns in zip(names, found.self_host.tolist(), strict=True) if ns}


def left_out(now: list[tuple[int, int, int, int, str]], place: int, annotations: set[str]) -> bool:
    """An annotation while a frame crosses it; but an operator that crosses the frame, too, keeps what is around it."""
    start, end, *_, name = now[place]
    for other, (f, g, kind, _, _) in enumerate(now):
        begins_it, ends_it = f < start < -g < -end, start < f < -end < -g
        between = {n for _, _, k, _, n in now[place + 1 : other] if k == 1} - annotations
        if name in annotations and kind == 0 and (begins_it or (ends_it and not between)):
            return True
    return False


def by_hand(model: Model) -> Paths:
    """At every moment what is running, in the order in which it began."""
    strings, found = model.trace.strings, Counter[tuple[str, ...]]()
    running = [
        (int(tree.track[i]), int(tree.start[i]), int(tree.end[i]), kind, int(tree.depth[i]), str(strings[tree.name[i]]))
        for kind, tree in enumerate((model.frames, model.tree))
        for i in range(len(tree))
    ]
    annotations = {str(strings[model.tree.name[i]]) for i in np.flatnonzero(~model.tree.is_operator)}
    for track in {r[0] for r in running}:
        mine = [r for r in running if r[0] == track]
        times = sorted({t for r in mine for t in r[1:3]})
        for begin, end in pairwise(times):
            now = sorted((s, -e, kind, depth, name) for _, s, e, kind, depth, name in mine if s <= begin and end <= e)
            path = tuple(name for place, (*_, name) in enumerate(now) if not left_out(now, place, annotations))
            if path:
                found[path] += end - begin
    return dict(found)


ranges = st.lists(
    st.tuples(st.sampled_from("foa"), st.integers(0, 25), st.integers(0, 15), st.integers(1, 2)), max_size=14
)


@given(ranges)
def test_as_by_hand(given_ranges: list[tuple[str, int, int, int]]) -> None:
    made = {"f": frame, "o": op, "a": annotation}
    model = model_of([made[kind](f"{kind}{i}", s, d, tid) for i, (kind, s, d, tid) in enumerate(given_ranges)])
    assert merged_paths(all_stacks(model)) == by_hand(model)
    # each range is counted once
    found = all_stacks(model)
    assert int(found.calls.sum()) == len(model.tree) + len(model.frames)


# ---- known answers


def training() -> list[Event]:
    """Two steps: main (0..1000) calls step() and net(); the annotation of a step begins and ends inside step()."""
    events = [frame("train.py(1): main", 0, 1000)]
    for i, at in enumerate((100, 500)):
        events += [
            frame("profiler.py(7): step", at, 20),
            annotation(f"ProfilerStep#{i}", at + 10, 400),  # ends inside the next step()
            frame("nn.Module: Net_0", at + 100, 100),
            frame("/lib/torch/linear.py(3): forward", at + 110, 80),
            frame(f"<built-in method linear of object at 0x{i}f>", at + 120, 50),
            op("aten::linear", at + 125, 40),
            launch(at + 130, 1 + i),
            kernel(at + 200, 30, 1 + i, "gemm"),
        ]
    return [*events, frame("profiler.py(7): step", 900, 20)]


MAIN, STEP, NET = "train.py(1): main", "profiler.py(7): step", "Net_0"
LINEAR, BUILTIN = "/lib/torch/linear.py(3): forward", "<built-in method linear of object>"


def test_host_time() -> None:
    table = of(model_of(training()), weight="host")
    step = (MAIN, ANY_STEP)
    assert paths(table) == {
        (MAIN,): 1000 - 3 * 20 - 2 * 380,
        (MAIN, STEP): 60,
        step: 2 * (380 - 100),
        (*step, NET): 2 * 20,
        (*step, NET, LINEAR): 2 * 30,
        (*step, NET, LINEAR, BUILTIN): 2 * 10,
        (*step, NET, LINEAR, BUILTIN, "aten::linear"): 2 * 40,
    }
    assert paths(table, "calls", 1)[step] == 2
    kinds = dict(zip(table.name, table.kind, strict=True))
    assert [kinds[n] for n in (MAIN, ANY_STEP, NET, BUILTIN, "aten::linear")] == [
        "frame",
        "annotation",
        "module",
        "builtin",
        "operator",
    ]
    # siblings stand as they were first seen
    assert table.name[:3] == (MAIN, STEP, ANY_STEP)


def test_device_time_belongs_to_the_stack_that_launched_it() -> None:
    events = [*training(), kernel(0, 7, 99, "early"), launch(1100, 3), copy(1200, 5, 3)]
    model = model_of(events)
    table = of(model)
    assert stack_weights(model) == ("device", "host")
    assert (table.weight, table.whole_ns, table.no_stack_ns) == ("device", 72 * US, 12 * US)
    assert paths(table) == {
        (MAIN, ANY_STEP, NET, LINEAR, BUILTIN, "aten::linear", "gemm"): 60,
        (NOT_RECORDED, "early"): 7,
        ("(cudaLaunchKernel)", "Memcpy HtoD"): 5,
    }
    work = np.isin(model.device_category, (Category.KERNEL, Category.MEMCPY, Category.MEMSET))
    assert table.whole_ns == int(model.trace.events.duration[model.device_work.row[work]].sum())
    assert of(model, weight="host").no_stack_ns == 0


NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@pytest.mark.parametrize("direction", ["top_down", "bottom_up"])
@pytest.mark.parametrize("files", ["", "train"])
def test_what_communicates_and_what_copies(direction: str, files: str) -> None:
    """The same on the host as on devices, with the short names of other views."""
    events = [
        op("c10d::allreduce_", 0, 100),
        annotation("nccl:all_reduce", 10, 80),
        launch(20, 1),
        launch(30, 2),
        op("aten::mm", 200, 100),
        launch(210, 3),
        kernel(300, 20, 1, NCCL),
        copy(330, 5, 2),
        kernel(400, 20, 3, "void at::native::f<4, at::native::CUDAFunctor_add<float>>(int)"),
    ]
    tables = [of(model_of(events), weight=weight, direction=direction, files=files) for weight in ("host", "device")]
    found = {name: role for each in tables for name, role in zip(each.name, each.role, strict=True)}
    names = {name: short for each in tables for name, short in zip(each.name, each.short_name, strict=True) if short}
    assert found == {
        "c10d::allreduce_": "communication",
        "nccl:all_reduce": "communication",
        NCCL: "communication",
        "Memcpy HtoD": "copy",
        "aten::mm": None,
        "void at::native::f<4, at::native::CUDAFunctor_add<float>>(int)": "compute",
    }
    assert sorted(names.values()) == ["Memcpy HtoD", "f<CUDAFunctor_add<float>>", NCCL.partition("(")[0]]


def test_bottom_up() -> None:
    model = model_of(training())
    table = of(model, weight="host", direction="bottom_up")
    top = {path[0]: ns for path, ns in paths(table, "total_ns").items() if len(path) == 1}
    self_by_name = Counter[str]()
    for path, ns in paths(of(model, weight="host")).items():
        self_by_name[path[-1]] += ns
    assert top == dict(self_by_name)
    # time stays with the outermost caller
    assert paths(table)["aten::linear", BUILTIN, LINEAR, NET, ANY_STEP, MAIN] == 80
    assert paths(table, "calls", 1)["aten::linear",] == 2


def test_recursion_is_counted_once() -> None:
    model = model_of([frame("a.py(1): f", 0, 100), frame("a.py(1): f", 10, 50), frame("a.py(1): f", 20, 10)])
    assert paths(of(model), "total_ns") == {("a.py(1): f",) * n: ns for n, ns in ((1, 100), (2, 50), (3, 10))}
    table = of(model, direction="bottom_up")
    assert paths(table, "total_ns") == {("a.py(1): f",) * n: ns for n, ns in ((1, 100), (2, 50), (3, 10))}
    assert table.self_ns.tolist() == [50 * US, 40 * US, 10 * US]


def test_operators_alone() -> None:
    model = model_of([annotation("ProfilerStep#1", 0, 100), op("a", 10, 50), op("b", 20, 10), op("c", 0, 5, tid=2)])
    assert not all_stacks(model).has_frames
    assert paths(of(model)) == {(ANY_STEP,): 50, (ANY_STEP, "a"): 40, (ANY_STEP, "a", "b"): 10, ("c",): 5}


def test_nothing() -> None:
    for direction in ("top_down", "bottom_up"):
        table = of(model_of([]), direction=direction)
        assert (len(table), table.whole_ns, table.weight) == (0, 0, "host")
        assert stacks(model_of([]), direction=direction, root=5) is None
    assert len(of(model_of([op("a", 0, 5)]), weight="device")) == 0


def test_stacks_that_operators_carry() -> None:
    """Until 2022 torch wrote the frames as text with each operator."""
    outer, inner = "m.py(2): forward;t.py(1): <module>", "n.py(3): g;m.py(2): forward;t.py(1): <module>"
    other = "o.py(4): h;t.py(1): <module>"
    stack = "Call stack"
    events = [
        annotation("ProfilerStep#0", 0, 400),
        op("a", 10, 50, **{stack: outer}),
        op("b", 20, 20, **{stack: inner}),
        op("c", 25, 5),
        op("d", 28, 1, **{stack: inner}),
        op("a", 100, 50, **{stack: outer}),
        op("a", 200, 30, **{stack: other}),
        op("b", 210, 10, **{stack: inner}),
    ]
    model = model_of(events)
    assert all_stacks(model).has_frames
    a = (ANY_STEP, "t.py(1): <module>", "m.py(2): forward", "a")
    h = (ANY_STEP, "t.py(1): <module>", "o.py(4): h", "a")
    b = (*a, "n.py(3): g", "b")
    assert paths(of(model)) == {
        (ANY_STEP,): 400 - 130,
        a: 30 + 50,
        b: 15,
        (*b, "c"): 4,
        (*b, "c", "d"): 1,
        h: 20,
        # no part of the stack around it: all of its own
        (*h, "t.py(1): <module>", "m.py(2): forward", "n.py(3): g", "b"): 10,
    }
    assert paths(of(model), "calls", 1)[a] == 2


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ("train.py", {MAIN}),
        ("TRAIN profiler", {MAIN, STEP}),
        ("-torch", {MAIN, STEP}),
        (".py -/lib/", {MAIN, STEP}),
        ("torch", {LINEAR}),
        ("nowhere", set()),
    ],
)
def test_only_some_files(files: str, kept: set[str]) -> None:
    model = model_of(training())
    everything = of(model, weight="host")
    for direction in ("top_down", "bottom_up"):
        table = of(model, weight="host", files=files, direction=direction)
        assert {name for name, kind in zip(table.name, table.kind, strict=True) if kind in ("frame", "builtin")} == kept
        assert table.whole_ns == everything.whole_ns
        assert {"aten::linear", NET, ANY_STEP} <= set(table.name)
        assert (OTHER_FILES in table.name) == (MAIN not in kept)
    assert of(model, files=files).whole_ns == of(model).whole_ns


def test_left_out_frames_join_what_they_called() -> None:
    events = [
        frame("a.py(1): main", 0, 100),
        frame("lib.py(1): x", 10, 20),
        frame("b.py(1): g", 15, 10),
        frame("lib.py(2): y", 40, 20),
        frame("b.py(1): g", 45, 10),
    ]
    table = of(model_of(events), files="-lib.py")
    assert paths(table, "total_ns") == {("a.py(1): main",): 100, ("a.py(1): main", "b.py(1): g"): 20}
    assert paths(table, "calls", 1)["a.py(1): main", "b.py(1): g"] == 2


# ---- what is folded, and zooming into it


def wide() -> Model:
    events = [frame("m.py(1): main", 0, 2000), op("large", 0, 1000)]
    events += [op(f"small{i}", 1000 + 10 * i, 9) for i in range(20)]
    events += [op("inner", 1000 + 10 * i, 3) for i in range(20)]
    return model_of(events)


def test_small_entries_are_folded() -> None:
    table = of(wide(), smallest_share=0.1)
    assert paths(table, "total_ns") == {
        ("m.py(1): main",): 2000,
        ("m.py(1): main", "large"): 1000,
        ("m.py(1): main", SMALLER): 180,
    }
    assert table.folded.tolist() == [0, 0, 20]
    assert table.calls.tolist() == [1, 1, 20]
    assert table.limit_ns == 200 * US
    assert table.entries == 42
    up = of(wide(), smallest_share=0.1, direction="bottom_up")
    assert paths(up, "total_ns") == {
        ("large",): 1000,
        ("large", "m.py(1): main"): 1000,
        ("m.py(1): main",): 820,
        (SMALLER,): 180,
    }
    assert max(up.folded.tolist()) == 21
    assert up.entries == 42


@pytest.mark.parametrize("direction", ["top_down", "bottom_up"])
def test_every_entry_can_be_asked_for(direction: str) -> None:
    model = model_of([*training(), *(op(f"small{i}", 950 + i, 1) for i in range(5))])
    for weight in stack_weights(model):
        everything = of(model, weight=weight, direction=direction)
        whole = paths(everything, "total_ns", 1)
        for row, (path, total) in enumerate(whole.items()):
            part = of(model, weight=weight, direction=direction, root=int(everything.id[row]), smallest_share=0.3)
            assert (part.name[0], part.whole_ns, part.all_ns) == (path[-1], total, everything.whole_ns)
            assert part.above is not None
            assert part.above.name == path[:-1]
            assert part.id[0] == everything.id[row]
            for inner, ns in paths(part, "total_ns", 1).items():
                assert SMALLER in inner or whole[(*path[:-1], *inner)] == ns
        assert stacks(model, weight, direction, root=12345) is None  # type: ignore[arg-type]


def test_ids_are_those_of_any_trace() -> None:
    one = of(model_of(training()), weight="host")
    other = of(model_of([op("first", 0, 1, tid=5), *training()]), weight="host")
    assert set(one.id.tolist()) < set(other.id.tolist())
    assert int(other.id.max()) < 2**53


# ---- every trace there is


def test_samples(samples: Path) -> None:
    from tests.recorded import model_of as model_of_file

    for path in sorted(samples.rglob("*.json.gz"))[::3]:
        model = model_of_file(path)
        for weight in stack_weights(model):
            down, up = of(model, weight=weight), of(model, weight=weight, direction="bottom_up", smallest_share=1e-3)
            assert down.whole_ns == up.whole_ns
            self_by_name = Counter[tuple[str, str]]()
            for name, kind, ns in zip(down.name, down.kind, down.self_ns.tolist(), strict=True):
                self_by_name[name, kind] += ns
            for row in np.flatnonzero(up.parent < 0).tolist():
                if up.kind[row] != "smaller":
                    assert up.total_ns[row] == self_by_name[up.name[row], up.kind[row]]
