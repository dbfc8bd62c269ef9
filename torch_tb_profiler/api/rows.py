"""Several results of one kind."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Rows(tuple[T, ...]):
    """A tuple of dataclasses that can become a data frame with one row each."""

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415 - not a dependency

        rows: Any = self
        return pd.DataFrame([asdict(row) for row in rows])
