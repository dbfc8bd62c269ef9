"""The table of docs/maintainers/owners-checked.md; `python -m tests.owner_table` writes it from the recorded traces."""

from __future__ import annotations

from pathlib import Path

from tests.recorded import ROOT, SHARED, model_of, short, traces
from torch_tb_profiler.analysis.shared.owners import OwnerShares, owner_shares

PAGE = ROOT / "docs" / "maintainers" / "owners-checked.md"
BEGIN, END = "<!-- table of tests/owner_table.py -->", "<!-- end of the table -->"
#: what traces say whose device work all belongs to the operators that launched it; they have no row
_ALL_OPERATORS = "100.0 % | – | – | – | operator 100.0 %"
_HEAD = [
    "| trace | linked | named only | inferred | none | how, and why there is none |",
    "|---|---|---|---|---|---|",
]


def recorded_with_devices() -> list[tuple[Path, OwnerShares]]:
    """Every recorded trace with device time and its shares; not the tiny hand-made ones."""
    paths = [path for path in traces(SHARED) if "units" not in path.parts]
    found = ((path, owner_shares(model_of(path))) for path in paths)
    return [(path, shares) for path, shares in found if shares is not None]


def table() -> str:
    rows = ((short(path).removesuffix(".pt.trace.json.gz"), _row(shares)) for path, shares in recorded_with_devices())
    return "\n".join([*_HEAD, *(f"| `{name}` | {row} |" for name, row in rows if row != _ALL_OPERATORS)])


def documented() -> str:
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def _row(shares: OwnerShares) -> str:
    main = " | ".join(_percent(share) for share in (shares.linked, shares.named_only, shares.inferred, shares.unowned))
    how = [f"{name} {_percent(share)}" for name, share in shares.by_how.items() if name != "none"]
    why = [f"{name} {_percent(share)}" for name, share in shares.by_reason.items()]
    return f"{main} | {'; '.join([', '.join(how), *why]) if why else ', '.join(how)}"


def _percent(share: float) -> str:
    return "–" if share == 0 else "< 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")
