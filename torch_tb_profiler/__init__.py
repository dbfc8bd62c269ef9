"""PyTorch profiles in TensorBoard, in a stand-alone server and from Python.

Importing this package loads nothing else: TensorBoard imports it at start, for everybody. What `__init__.pyi`
declares beside the version is loaded when it is first used.
"""

__version__ = "1.0.0"

_LAZY = ("Profile", "ProfileError", "check", "hang", "open", "prove", "trends")


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    # by its name as text: the rooms below import the version from here, and must not seem to import a door
    return getattr(import_module("torch_tb_profiler.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
