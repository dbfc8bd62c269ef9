"""Several results of one kind."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Rows(tuple[T, ...]):
    """A tuple of dataclasses or structs that can become a data frame with one row each."""

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415 - not a dependency

        rows: Any = self
        return pd.DataFrame([_columns(row) for row in rows])


def _columns(row: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(row) if isinstance(row, msgspec.Struct) else asdict(row)
