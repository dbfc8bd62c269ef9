"""What is said of what bounds a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from torch_tb_profiler.insights.shared.wording import ms

BoundKind = Literal["input", "host", "launch", "sync", "communication", "memory", "compute", "unknown"]

_SENTENCES: Mapping[BoundKind, str] = {
    "input": "Input bounds this run: steps wait for data. Without that wait",
    "sync": "Synchronization bounds this run: the host stops and waits for the device, which then waits for the host. "
    "Without those waits",
    "communication": "Communication bounds this run: nothing hides it. Without it, and without waiting for other ranks "
    "in it,",
    "memory": "Copies bound this run: steps wait for them. Without them",
    "host": "The host bounds this run: the device waits for Python and operators on the CPU. If they took a "
    "third less time,",
    "launch": "Launches bound this run: the device waits for the host to start its many short kernels. If the "
    "host took a third less time,",
    "compute": "Compute bounds this run: kernels are what the steps wait for. If kernels were twice as fast,",
}
_ON_THE_CPU: Mapping[BoundKind, str] = {
    "host": "Python bounds this run. If it took a third less time,",
    "compute": "Compute bounds this run: operators on the CPU. If operators were twice as fast,",
}
#: what the time of the host goes to, where that is no Python and no operator
HostPart = Literal["calls", "compilation", "unrecorded"]
_HOST_BY: Mapping[HostPart, str] = {
    "calls": "The host bounds this run: its time goes to calls of the API of the device. If the host took a "
    "third less time,",
    "compilation": "The host bounds this run: code is compiled while the steps run. Without that",
    "unrecorded": "The host bounds this run: the trace has no more of it than calls and annotations. If the host "
    "took a third less time,",
}
CANNOT = "What bounds this run cannot be determined:"
BUSY_FOR_FREE = "a device is busy nearly all the time, and the trace does not show what waits for its kernels."
#: in place of that of a quicker host
_LAUNCH_CALLS = "Launch calls bound this run: the device waits while the host makes them. Without them"
NAMES: Mapping[BoundKind, str] = {
    "input": "input",
    "sync": "synchronization",
    "communication": "communication",
    "memory": "copying",
    "host": "the host",
    "launch": "launching kernels",
    "compute": "compute",
}


def begin_of(kind: BoundKind, on_device: bool, calls: bool, by: HostPart | None = None) -> str:
    """How the sentence begins.

    calls   not short kernels but the calls that launch are what takes long
    by      what the time of the host goes to
    """
    if by is not None:
        return _HOST_BY[by]
    return _LAUNCH_CALLS if calls else _SENTENCES[kind] if on_device else _ON_THE_CPU.get(kind, _SENTENCES[kind])


def sentence_of(begin: str, share: float, step_ns: float, following: BoundKind | None, only_in: str | None) -> str:
    """The whole sentence.

    share, step_ns   what the relief would save of the average step, 0…1, and how long that is
    following        what bounds the steps after that
    only_in          the step that nearly all of it is in
    """
    after = step_ns * (1 - share)
    text = f"{begin} a step would take {ms(after)} instead of {ms(step_ns)} ({100 * share:.0f} % less)."
    if only_in is not None:
        text = f"{text} Nearly all of that is in step {only_in}."
    return text if following is None else f"{text} What comes next is {NAMES[following]}."
