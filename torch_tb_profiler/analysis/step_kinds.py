"""Which steps run another program than others: docs/views/steps.md has the rule.

Steps are distinguished by what they run, never by how long they take. First by their signs (`_signs`): a
backward pass, or the name of a phase of inference. Of those alike, two are of one kind while at least half of what each
runs is what the other runs, in the same proportions: `Σ min(p, q) ≥ LEAST_COMMON`, where p and q are the shares of the
words of a step. So the number of micro-batches, the length of a sequence, and work every n-th step (optimizer, logging,
checkpoints) make no kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.kinds import CODE, PHASES, ProgramPhase
from torch_tb_profiler.analysis.program.phases import Phases, event_phase, phases
from torch_tb_profiler.arrays.distinct import distinct, distinct_places, one_of
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.model.steps.types import unnumbered
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Category
from torch_tb_profiler.words import section

#: what is known of the program of a kind. `other`: only that it is another one
KindId = Literal[
    "training",
    "without_backward",
    "validation",
    "prefill",
    "decode",
    "mixed",
    "draft",
    "verify",
    "encode",
    "denoise",
    "decode_image",
    "other",
]

#: of the words of two steps of one kind, at least this share is common
LEAST_COMMON = 0.5
#: programs with fewer words differ by chance
LEAST_WORDS = 10
#: a step without a backward pass is a program of its own if it runs this share of the forward pass of training
LEAST_FORWARD = 0.5
#: marks that distinguish steps, and programs among steps with equal signs
MOST_PROGRAMS = 8

_INFERS: dict[ProgramPhase, KindId] = {
    ProgramPhase.VALIDATION: "validation",
    ProgramPhase.PREFILL: "prefill",
    ProgramPhase.DECODE: "decode",
    ProgramPhase.MIXED: "mixed",
    ProgramPhase.DRAFT: "draft",
    ProgramPhase.VERIFY: "verify",
    ProgramPhase.ENCODE: "encode",
    ProgramPhase.DENOISE: "denoise",
    ProgramPhase.DECODE_IMAGE: "decode_image",
}
#: what comes with some steps only, and is no program of its own
_NOW_AND_THEN = (
    ProgramPhase.DATA,
    ProgramPhase.OPTIMIZER,
    ProgramPhase.ZERO_GRAD,
    ProgramPhase.LOGGING,
    ProgramPhase.COMPILE,
    ProgramPhase.CAPTURE,
)


class StepKind(msgspec.Struct, frozen=True):
    """A kind of steps.

    id       what is known of its program
    label    what marks its steps, without numbers, where marks tell kinds apart
    number   from 1 among kinds that have the same id and label; None of the only one
    """

    id: KindId
    label: str | None
    number: int | None

    @property
    def values(self) -> dict[str, Value]:
        """What its title says. known: whether more than that it is another program."""
        values: dict[str, Value] = {"id": self.id}
        if self.label is not None:
            values |= {"label": self.label, "known": self.id != "other"}
        return values if self.number is None else {**values, "number": self.number}

    @property
    def title(self) -> str:
        """For people, in English."""
        return section("notes", "unlike_steps").say("title", self.values)


class Kinds(msgspec.Struct, frozen=True):
    """The kinds of the steps, in the order of their first steps; one kind says nothing.

    of    shape (steps,): index into `kinds`
    """

    kinds: tuple[StepKind, ...]
    of: Int64

    @property
    def are_several(self) -> bool:
        """Tell whether steps run different programs, so that a mean over all steps mixes programs."""
        return len(self.kinds) > 1

    def is_range(self, number: int) -> bool:
        """Return whether the steps of a kind follow each other, without others between."""
        at = np.flatnonzero(self.of == number)
        return bool(at[-1] - at[0] + 1 == len(at))


def step_kinds(model: Model) -> Kinds:
    """Group the chosen steps by kind; the kind of a step does not depend on the choice."""
    every = _kinds(model.whole)
    if model.steps is model.whole.steps:
        return every
    at = np.searchsorted(model.whole.steps.host_start, model.steps.host_start)
    used, of = distinct_places(every.of[at])
    return Kinds(tuple(every.kinds[each] for each in used.tolist()), of)


class _Words(msgspec.Struct, frozen=True):
    """How often each step runs each operator, or kernel that no operator launched: `count` of `word` in `step`."""

    step: Int64
    word: Int64
    count: Int64

    def sizes(self, steps: int) -> Int64:
        """Return shape (steps,): how many words each has."""
        return sums_at(self.step, self.count, steps)


@cached(for_good=True)
def _kinds(model: Model) -> Kinds:
    steps = len(model.steps)
    if steps < 2:
        return Kinds((StepKind("other", None, None),) * steps, np.zeros(steps, np.int64))
    found = phases(model)
    operators, forward = _operators(model, found)
    kernels = _kernels(model)
    sign, backward, optimizer = _signs(model, found)
    if backward.any():
        # a forward pass whose rest was not recorded, or a step that does nothing, is not validation
        unsure = (sign == "") & (forward < LEAST_FORWARD * np.median(forward[backward]))
        sign[unsure] = "training"
    pairs = list(zip(_labels(model), sign.tolist(), strict=True))
    known = Counter(pairs)
    usual = known.most_common(1)[0][0]
    # a single step without any sign is no kind
    keys = [usual if known[key] == 1 and not key[1] and not backward.any() else key for key in pairs]
    words = _joined(operators, kernels)
    kind = np.full(steps, -1, np.int64)
    number = 0
    for key in dict.fromkeys(keys):
        mine = np.array([each == key for each in keys], np.bool_)
        programs = _programs(words, mine)
        kind[mine] = number + programs[mine]
        number += int(programs.max()) + 1
    # replays of a graph have no operators that would tell of a backward pass
    forward_only = (sign == "") & backward.any() & (operators.sizes(steps) >= kernels.sizes(steps))
    return _named(kind, keys, backward | optimizer, forward_only)


def _named(kind: Int64, keys: Sequence[tuple[str, str]], trains: Bool, forward_only: Bool) -> Kinds:
    """Name kinds, in the order of their first steps."""
    order = list(dict.fromkeys(kind.tolist()))
    labelled = len({label for label, _ in keys}) > 1
    plain: list[tuple[KindId, str | None]] = []
    for number in order:
        label, sign = keys[int(np.argmax(kind == number))]
        known: KindId = _INFERRED.get(sign, "other")
        if trains[kind == number].any():
            known = "training"
        elif forward_only[kind == number].all():
            known = "without_backward"
        plain.append((known, label if labelled else None))
    counts, seen = Counter(plain), Counter[tuple[KindId, str | None]]()
    kinds = []
    for known, shown in plain:
        seen[known, shown] += 1
        kinds.append(StepKind(known, shown, seen[known, shown] if counts[known, shown] > 1 else None))
    return Kinds(tuple(kinds), np.array([order.index(number) for number in kind.tolist()], np.int64))


_INFERRED: dict[str, KindId] = {name: name for name in _INFERS.values()}


def _labels(model: Model) -> list[str]:
    """Return the mark of each step, without numbers; that of a single step is taken for the most common one.

    Marks that are many say what a step works on, not what it runs; engines write that into all names.
    """
    words = [unnumbered(label) for label in model.steps.labels] or [""] * len(model.steps)
    counts = Counter(words)
    usual = counts.most_common(1)[0][0]
    if model.steps.rule == "inference_engine" or len(counts) > MOST_PROGRAMS:
        return [usual] * len(words)
    return [each if counts[each] > 1 else usual for each in words]


def _signs(model: Model, found: Phases) -> tuple[np.typing.NDArray[np.str_], Bool, Bool]:
    """Return, shape (steps,), what is known of each step, and which have a backward pass, and an optimizer step.

    `training` with a backward pass, or with an optimizer step where other steps have one; else the only phase of
    inference; else empty. An optimizer alone tells nothing of steps without it: it may come every n-th step.
    """
    segments, steps = found.segments, model.steps
    has = np.zeros((len(steps), len(PHASES)), np.bool_)
    if len(segments.start):
        bounds = distinct(np.concatenate([segments.start, segments.end[-1:], steps.host_since, steps.host_end]))
        at = np.searchsorted(segments.start, bounds, side="right") - 1
        step = steps.on_host(bounds)
        inside = (step >= 0) & (at >= 0) & (bounds < segments.end[-1])
        has[step[inside], segments.phase[at[inside]]] = True
    sign = np.full(len(steps), "", dtype="<U16")
    infers = has[:, [CODE[each] for each in _INFERS]]
    names = np.array(list(_INFERS.values()), dtype="<U16")
    one = infers.sum(axis=1) == 1
    sign[one] = names[np.argmax(infers[one], axis=1)]
    backward = has[:, CODE[ProgramPhase.BACKWARD]] | has[:, CODE[ProgramPhase.RECOMPUTE]]
    optimizer = has[:, CODE[ProgramPhase.OPTIMIZER]]
    sign[backward | (optimizer & backward.any())] = "training"
    return sign, backward, optimizer


def _operators(model: Model, found: Phases) -> tuple[_Words, Int64]:
    """Return operators by name, without numbers in names, and how many of each step lie in no backward pass."""
    tree, steps = model.structure.tree, model.steps
    step = steps.on_host(tree.start)
    at = np.flatnonzero(tree.is_operator & (step >= 0))
    phase = event_phase(model, found, tree.row[at])
    usual = ~one_of(phase, [CODE[other] for other in _NOW_AND_THEN])
    at, phase = at[usual], phase[usual]
    backward = one_of(phase, (CODE[ProgramPhase.BACKWARD], CODE[ProgramPhase.RECOMPUTE]))
    return _counted(model, step[at], tree.name[at], unnumbered), np.bincount(step[at[~backward]], minlength=len(steps))


def _kernels(model: Model) -> _Words:
    """Return kernels that no operator launched, such as those of a graph."""
    structure, steps, events = model.structure, model.steps, model.trace.events
    row, links = model.trace.device_work.row, structure.device_links
    alone = (links.operator_node < 0) & (events.category[row] == Category.KERNEL) & ~structure.launched_before
    row, call = row[alone], links.launch_row[alone]
    step = np.where(call >= 0, steps.on_host(events.start[call]), steps.on_device(events.start[row]))
    return _counted(model, step[step >= 0], events.name[row[step >= 0]], short_name)


def _counted(model: Model, step: Int64, name: Int32, as_word: Callable[[str], str]) -> _Words:
    codes, place = distinct_places(name)
    words: dict[str, int] = {}
    of_code = [words.setdefault(as_word(text), len(words)) for text in model.trace.strings.texts(codes)]
    cell, at = distinct_places(step * max(len(words), 1) + np.array(of_code, np.int64)[place])
    return _Words(cell // max(len(words), 1), cell % max(len(words), 1), np.bincount(at, minlength=len(cell)))


def _joined(operators: _Words, kernels: _Words) -> _Words:
    apart = int(operators.word.max(initial=-1)) + 1
    return _Words(
        np.concatenate([operators.step, kernels.step]),
        np.concatenate([operators.word, kernels.word + apart]),
        np.concatenate([operators.count, kernels.count]),
    )


def _programs(words: _Words, mine: Bool) -> Int64:
    """Return shape (steps,): a number for each program that several of some steps run; the others are of the usual one.

    mine   shape (steps,): which steps
    """
    steps = len(mine)
    size = words.sizes(steps)
    share = words.count / np.maximum(size, 1)[words.step]
    program = np.zeros(steps, np.int64)
    left = mine & (size >= LEAST_WORDS)
    programs: list[Bool] = []
    for _ in range(MOST_PROGRAMS):
        if not left.any():
            break
        # of middle size, so that it is neither the first, which compiles, nor one that saves a checkpoint
        at = np.flatnonzero(left)
        leader = at[np.argsort(size[at], kind="stable")[(len(at) - 1) // 2]]
        usual = np.zeros(int(words.word.max()) + 1)
        of_leader = words.step == leader
        usual[words.word[of_leader]] = share[of_leader]
        common = np.bincount(words.step, np.minimum(share, usual[words.word]), minlength=steps)
        alike = left & (common >= LEAST_COMMON - 1e-9)
        left &= ~alike
        if alike.sum() > 1:
            programs.append(alike)
    programs.sort(key=lambda alike: -int(alike.sum()))
    for number, alike in enumerate(programs):
        program[alike] = number
    return program


#: a first step whose period, without `fill_ns`, is this much longer than the median of the others, and longer than each
RATIO = 1.5
FEWEST = 3


def warm_up_ratio(steps: Steps, kind: Int64) -> float | None:
    """Return how many times as long as the median of its kind the first step is, if it was still warming up.

    kind   shape (steps,): `Kinds.of`
    None if it is like the others, or when there are fewer than three steps of its kind.
    """
    length = (steps.end - steps.start)[kind == kind[:1]]
    length[:1] -= steps.fill_ns
    if len(length) < FEWEST:
        return None
    middle = median(length[1:])
    if length[0] <= max(RATIO * middle, int(length[1:].max())):
        return None
    return float(length[0]) / max(middle, 1.0)
