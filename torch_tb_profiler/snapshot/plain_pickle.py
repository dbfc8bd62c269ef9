"""A pickle of plain values: lists, dicts, texts and numbers. No class is ever looked up."""

from __future__ import annotations

import pickle
from typing import Any, NoReturn


class NotPlain(Exception):
    """A pickle names a class, or an object that is stored elsewhere."""


class PlainUnpickler(pickle.Unpickler):
    """Unpickler that ends with NotPlain instead of loading a class or a persistent object."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise NotPlain(f"{str(module_name)[:80]}.{str(global_name)[:80]}")

    def persistent_load(self, _: Any) -> NoReturn:
        raise NotPlain("a persistent object")
