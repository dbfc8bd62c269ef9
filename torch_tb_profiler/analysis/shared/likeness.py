"""How much two programs are alike, told from a few bytes of each: a trace need not be opened to be compared with."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import NN_MODULE

#: how many hashes a sketch has; two sketches tell the share of common names within about 1/8
_HASHES = 16
_NUMBER = lazy_pattern(r"_\d+$")


def program_sketch(model: Model) -> str:
    """Sketch the names of operators and of classes of modules, of kernels where there are no operators: 64 hexadecimal
    digits, 4 for each hash; "" where the trace has none of them.

    Each hash is the smallest of all names (MinHash), so the share of equal hashes of two sketches estimates how many of
    all names of both are in both.
    """
    names = _names(model)
    if not names:
        return ""
    hashes = b"".join(blake2b(name.encode(), digest_size=2 * _HASHES).digest() for name in names)
    least = np.frombuffer(hashes, ">u2").reshape(-1, _HASHES).min(axis=0)
    return str(least.astype(">u2").tobytes().hex())


def _names(model: Model) -> set[str]:
    text = model.trace.strings
    modules = (text[code] for code in np.unique(model.frames.name).tolist())
    classes = {_NUMBER.sub("", name) for name in modules if name.startswith(NN_MODULE)}
    operators = {text[code] for code in np.unique(model.tree.name[model.tree.is_operator]).tolist()}
    work = model.trace.events.name[model.device_work.row]
    return classes | operators or {text[code] for code in np.unique(work).tolist()}
