"""The recorded arguments of operators, by their position in the call tree."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.flops.arguments import Arguments
from torch_tb_profiler.analysis.flops.operators import arguments_of
from torch_tb_profiler.model import Model


class Texts(msgspec.Struct, frozen=True):
    """The recorded arguments of the operators of a trace, by position in the call tree."""

    model: Model

    def of(self, node: int) -> tuple[str, str, str, str]:
        """Dimensions, types, values, strides; "" for missing."""
        operators, strings = self.model.trace.operators, self.model.trace.strings
        at = int(self.model.tree.operator[node])
        if at < 0:
            return "", "", "", ""
        codes = (operators.input_dims, operators.input_type, operators.concrete_inputs, operators.input_strides)
        dims, types, concrete, strides = (str(strings[int(code[at])]) for code in codes)
        return dims, types, concrete, strides

    def arguments(self, node: int) -> Arguments | None:
        return arguments_of(*self.of(node))

    def name(self, node: int) -> str:
        return str(self.model.trace.strings[int(self.model.tree.name[node])])
