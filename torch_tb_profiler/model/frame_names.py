"""How Python frames are named: `file(line): function`, `nn.Module: Linear_3`, `<built-in function len>`."""

from __future__ import annotations

import re

NN_MODULE = "nn.Module: "

#: `file(line): function`; not built-in functions, not nn.Module calls
SOURCE_FRAME = re.compile(r".*\(\d+\): ")

#: the code that launches a Triton kernel: Inductor's, or Triton's own
TRITON_LAUNCH = re.compile(r"(?:^|/)(?:torch/_inductor/runtime/|triton/(?:runtime|backends|compiler)/)")

#: files of installed packages; kineto cuts what stands before `torch/`
_LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|torch|triton)/|^<|/lib/python3")


def is_own_code(name: str) -> bool:
    """Whether a frame is of a source file outside of torch, Triton and installed packages."""
    return SOURCE_FRAME.match(name) is not None and _LIBRARY.search(name) is None
