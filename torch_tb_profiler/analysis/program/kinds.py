"""The phases of a program, and the evidence for a phase."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Literal


class ProgramPhase(str, Enum):
    """What an interval of a program is spent on.

    RECOMPUTE is part of the backward pass: the forward pass again, of what was not kept. VALIDATION is the forward pass
    of batches that nothing is learnt from, where names say so. OTHER is what no mark says. NO_LAUNCH is device work of
    which the launch is not in the trace.
    """

    DATA = "data"
    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    RECOMPUTE = "recompute"
    OPTIMIZER = "optimizer"
    ZERO_GRAD = "zero_grad"
    VALIDATION = "validation"
    LOGGING = "logging"
    SCHEDULE = "schedule"
    PREFILL = "prefill"
    DECODE = "decode"
    MIXED = "mixed"
    DRAFT = "draft"
    VERIFY = "verify"
    SAMPLE = "sample"
    ENCODE = "encode"
    DENOISE = "denoise"
    DECODE_IMAGE = "decode_image"
    COMPILE = "compile"
    CAPTURE = "capture"
    OTHER = "other"
    NO_LAUNCH = "no_launch"


#: the values of `ProgramPhase`, for answers and parameters
PhaseName = Literal[
    "data",
    "forward",
    "loss",
    "backward",
    "recompute",
    "optimizer",
    "zero_grad",
    "validation",
    "logging",
    "schedule",
    "prefill",
    "decode",
    "mixed",
    "draft",
    "verify",
    "sample",
    "encode",
    "denoise",
    "decode_image",
    "compile",
    "capture",
    "other",
    "no_launch",
]

PHASES = tuple(ProgramPhase)
CODE = {phase: code for code, phase in enumerate(PHASES)}


def name_of(phase: ProgramPhase) -> PhaseName:
    return phase.value


class PhaseEvidence(IntEnum):
    """The evidence for the phase of a moment; from INFERRED on it is inferred."""

    NONE = 0  # nothing says it: OTHER
    AUTOGRAD = 1  # a node of the autograd engine
    TORCH = 2  # a range that torch writes
    NAMED = 3  # a range that the user, a framework or an engine named
    FRAME = 4  # a Python frame of torch or a framework
    MODULE = 5  # a call of nn.Module or of a loss function
    OPERATORS = 6  # operators that the backward pass follows; that run again; that look up tokens; compiled code
    BACKWARD_RUN = 7  # from the first to the last autograd node of a backward pass
    OPTIMIZER_OPERATORS = 8  # operators of an optimizer that wrote no range
    NO_NUMBERS = 9  # operators before a backward pass, without sequence numbers
    OTHER_THREAD = 10  # what the main thread did at that moment


INFERRED = PhaseEvidence.OPERATORS
