"""Recurrent layers that run as one operator."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

from torch_tb_profiler.analysis.flops.arguments import Arguments
from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import Sure, Work

#: gates by mode of cuDNN: RNN with relu, with tanh, LSTM, GRU
_GATES = (1, 1, 4, 3)


def _layers(mode: int, hidden: int, projected: int | None, layers: int, buffer: int | None, backward: bool) -> Reader:
    """Where the settings stand; `buffer`: where all weights stand as one tensor."""

    def read(given: Arguments) -> Work:
        x = given.tensor(0)
        width, gates, count = given.value(hidden), _GATES[given.value(mode)], given.value(layers)
        small = given.value(projected) if projected is not None else 0
        both = 2 if given.flags()[2][1] else 1
        out = small or width
        if not 0 < count < 10_000 or len(x.dims) < 2:
            raise ValueError("no layers")
        steps, weights, flops = prod(x.dims[:-1]), 0, 0
        for layer in range(count):
            size = x.dims[-1] if not layer else out * both
            of_layer = both * (size * gates * width + out * gates * width + (width * small if small else 0))
            flops += 2 * steps * of_layer
            weights += of_layer
        moved = given.tensor(buffer).bytes if buffer is not None and given.is_tensor(buffer) else weights * x.size
        moved += x.bytes + steps * both * out * x.size
        if backward:  # that of the first hidden state is counted, though it may not be needed
            return Work(2 * flops, 2 * moved, x.data, Sure.BOUND)
        return Work(flops, moved, x.data)

    return read


def _one_layer(given: Arguments) -> Work:
    x = given.tensor(0)
    hidden, gates = given.value(10), _GATES[given.value(9)]
    weights = (x.dims[-1] + hidden) * gates * hidden
    steps = prod(x.dims[:-1])
    return Work(2 * steps * weights, (weights + steps * hidden) * x.size + x.bytes, x.data)


RECURRENT: Mapping[str, Reader] = MappingProxyType(
    {
        "aten::_cudnn_rnn": _layers(6, 7, 8, 9, 3, backward=False),
        "aten::_cudnn_rnn_backward": _layers(10, 11, 12, 13, 3, backward=True),
        "aten::miopen_rnn": _layers(5, 6, None, 7, None, backward=False),
        "aten::miopen_rnn_backward": _layers(10, 11, None, 12, 3, backward=True),
        "aten::mkldnn_rnn_layer": _one_layer,
    }
)
