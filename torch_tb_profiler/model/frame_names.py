"""How Python frames are named: `file(line): function`, `nn.Module: Linear_3`, `<built-in function len>`."""

from __future__ import annotations

from torch_tb_profiler.late_pattern import late_pattern

NN_MODULE = "nn.Module: "

#: `file(line): function`; not built-in functions, not nn.Module calls
SOURCE_FRAME = late_pattern(r".*\(\d+\): ")

#: the code that launches a Triton kernel: Inductor's, or Triton's own
TRITON_LAUNCH = late_pattern(r"(?:^|/)(?:torch/_inductor/runtime/|triton/(?:runtime|backends|compiler)/)")

#: files of installed packages; kineto cuts what stands before `torch/`
_LIBRARY = late_pattern(r"(?:^|/)(?:site-packages|dist-packages|torch|triton)/|^<|/lib/python3")

_PLACE = late_pattern(r"(?P<file>.*)\((?P<line>\d+)\): (?P<function>.+)")
_BUILT_IN = late_pattern(r"<built-in (?:function|method) (?P<function>[^ >]+)(?:[ >].*)?")


def frame_label(name: str) -> str:
    """What a frame does before where it stands: `/home/me/train.py(12): main` → `main (train.py:12)`.

    `nn.Module: Linear_3` → `Linear_3`, `<built-in method mm of type object at 0x7f>` → `mm (built-in)`; other names are
    kept.
    """
    place = _PLACE.fullmatch(name)
    if place:
        return f"{place['function']} ({place['file'].rpartition('/')[2]}:{place['line']})"
    built_in = _BUILT_IN.fullmatch(name)
    if built_in:
        return f"{built_in['function']} (built-in)"
    return name.removeprefix(NN_MODULE) or name


def is_own_code(name: str) -> bool:
    """Whether a frame is of a source file outside of torch, Triton and installed packages."""
    return SOURCE_FRAME.match(name) is not None and _LIBRARY.search(name) is None
