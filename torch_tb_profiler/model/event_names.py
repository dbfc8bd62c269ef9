"""How Python frames and calls of a device's API are named.

Frames: `file(line): function`, `nn.Module: Linear_3`, `<built-in function len>`.
"""

from __future__ import annotations

from torch_tb_profiler.lazy_pattern import lazy_pattern

NN_MODULE = "nn.Module: "

#: `file(line): function`; not built-in functions, not nn.Module calls
SOURCE_FRAME = lazy_pattern(r".*\(\d+\): ")

#: the code that launches a Triton kernel: Inductor's, or Triton's own
TRITON_LAUNCH = lazy_pattern(r"(?:^|/)(?:torch/_inductor/runtime/|triton/(?:runtime|backends|compiler)/)")

#: files of installed packages; kineto cuts the path before `torch/`, and before other packages: those listed here are
#: never the user's own code
_LIBRARY = lazy_pattern(
    r"(?:^|/)(?:site-packages|dist-packages|torch|triton)/|^<|/lib/python3|"
    r"^(?:numpy|scipy|pandas|pyarrow|PIL|cv2|skimage|sklearn|tqdm|wandb|tensorboard|typing_extensions)(?:/|\.py\()"
)

#: the standard library, whose folder kineto cuts: modules that torch imports itself, so that no program has a file of
#: its own with that name beside the script it starts
_STANDARD = lazy_pattern(
    r"(?:_weakrefset|abc|argparse|ast|asyncio|base64|bisect|codecs|collections|concurrent|contextlib|copy|copyreg|ctypes|"
    r"dataclasses|datetime|dis|encodings|enum|functools|genericpath|glob|gzip|hashlib|heapq|importlib|inspect|io|json|"
    r"linecache|locale|logging|multiprocessing|numbers|opcode|operator|os|pathlib|pickle|posixpath|pprint|queue|random|re|"
    r"reprlib|runpy|selectors|shutil|signal|socket|sre_(?:compile|constants|parse)|ssl|string|struct|subprocess|sysconfig|"
    r"tarfile|tempfile|textwrap|threading|tokenize|traceback|types|typing|unittest|urllib|uuid|warnings|weakref|zipfile)"
    r"(?:\.py\(|/)"
)

_PLACE = lazy_pattern(r"(?P<file>.*)\((?P<line>\d{1,9})\): (?P<function>.+)")
_BUILT_IN = lazy_pattern(r"<built-in (?:function|method) (?P<function>[^ >]+)(?:[ >].*)?")


def frame_label(name: str) -> str:
    """Put the function of a frame before its place: `/home/me/train.py(12): main` → `main (train.py:12)`.

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
    """Whether a frame is of a source file outside of torch, Triton, installed packages and the standard library."""
    return SOURCE_FRAME.match(name) is not None and not (_LIBRARY.search(name) or _STANDARD.match(name))


#: calls that start work on a device: kernels, copies and sets
STARTS_WORK = lazy_pattern(r"Launch|emcpy|emset|[Ee]nqueue|AppendMemory")
#: calls that wait for a stream, an event or a device
SYNCHRONIZE = lazy_pattern(
    r"[Ss]ynchronize(?:Stream|Event|Device|Context)?(?:_v\d+|_ptsz)?$|^(?:ur|pi)(?:QueueFinish|Events?Wait)$"
)
#: of those that wait the ones that wait for all that a device does
WHOLE_DEVICE = lazy_pattern(r"Device|Ctx|Context")
