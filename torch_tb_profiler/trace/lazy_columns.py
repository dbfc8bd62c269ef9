"""Objects with fields that are given at the start, or read at first use and then kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from torch_tb_profiler.spill import spilled

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform as dataclass_transform  # noqa: PLC0414 - others have it from here
else:

    def dataclass_transform(**_: Any) -> Any:
        """Do nothing at run time: it is for type checkers."""
        return lambda made: made


LazyT = TypeVar("LazyT", bound="LazyColumns")


class FieldDeclaration(msgspec.Struct, frozen=True):
    """The value of a field in its class, until the class is made: what is known of the field."""

    known: Mapping[str, Any]


class LazyColumns:
    """Two threads may read a field twice; what they get is equal.

    A subclass declares its fields, and is made of their values in order or by name. It is no dataclass: there are
    dozens, and `dataclass` makes and compiles code for each when it is loaded.
    """

    #: the declaration of each field, in order
    declared: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init_subclass__(cls) -> None:
        own = {name: value.known for name, value in vars(cls).items() if isinstance(value, FieldDeclaration)}
        cls.declared = {**cls.declared, **own}
        for name in own:
            delattr(cls, name)  # so that a field that was not read yet reaches `__getattr__`

    def __init__(self, *in_order: Any, **by_name: Any) -> None:
        given = dict(zip(self.declared, in_order, strict=False)) | by_name
        if len(in_order) + len(by_name) != len(self.declared) or given.keys() != self.declared.keys():
            raise TypeError(f"{type(self).__name__} is made of {', '.join(self.declared)}")
        self.__dict__.update(given)

    @classmethod
    def of_fields_read_by(cls: type[LazyT], names: frozenset[str], read: Callable[[str], Any]) -> LazyT:
        """Return an object that reads a field with `read(name)` at first use. names: those of all fields."""
        made = object.__new__(cls)
        made.__dict__["_late"] = names, read
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} does not change: {name} cannot be set")

    if not TYPE_CHECKING:  # else a type checker would accept any name as a field

        def __getattr__(self, name: str) -> Any:
            names, read = self.__dict__.get("_late", ((), None))
            if name not in names:
                raise AttributeError(f"{type(self).__name__} has no {name}")
            value = self.__dict__[name] = spilled(read(name))
            return value
