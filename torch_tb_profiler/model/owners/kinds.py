"""How the owner of device work is known, and why it is not."""

from __future__ import annotations

from enum import IntEnum


class How(IntEnum):
    """The first of these that applies, from OPERATOR on."""

    NONE = 0
    OPERATOR = 1  # the innermost operator around its launch
    COMPILED = 2  # a compiled region around the launch, or what calls the code that launches a Triton kernel
    GRAPH_NODE = 3  # what captured the node of the graph that was replayed
    ANNOTATION = 4  # the innermost record_function range around the launch, such as Optimizer.step
    MODULE = 5  # the innermost nn.Module call around the launch
    FRAME = 6  # the innermost Python frame of the program around the launch
    THREAD = 7  # the thread that made the call: nothing was running on it
    INFERRED = 8  # what owns its like in the recording; its launch is not in it
    ANNOTATED = 9  # what the program wrote to the node of the graph; comes before GRAPH_NODE


class Why(IntEnum):
    """Why device work has no owner."""

    OWNED = 0
    HOST_NOT_RECORDED = 1  # the trace has no API calls at all
    BEFORE_RECORDING = 2  # launched before the recording, and like nothing in it
    NO_CORRELATION = 3  # the event does not say which call started it
    LAUNCH_LOST = 4  # an earlier piece of work of its stream was launched in the recording, so it was, too
    AMBIGUOUS = 5  # several calls may have started it
