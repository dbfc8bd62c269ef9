"""Objects whose fields are read when they are first used, and then kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

Late = TypeVar("Late", bound="LateFields")


@dataclass(frozen=True)
class LateFields:
    """A base of dataclasses. Two threads may read a field twice; what they get is equal."""

    @classmethod
    def of_fields_read_by(cls: type[Late], names: frozenset[str], read: Callable[[str], Any]) -> Late:
        """An object whose fields `read` gives, by name. names: of all fields."""
        made = object.__new__(cls)
        made.__dict__["_late"] = names, read
        return made

    if not TYPE_CHECKING:  # a type checker would take any name for a field

        def __getattr__(self, name: str) -> Any:
            names, read = self.__dict__.get("_late", ((), None))
            if name not in names:
                raise AttributeError(f"{type(self).__name__} has no {name}")
            value = self.__dict__[name] = read(name)
            return value
