"""How much of the UI a browser fetches, gzipped. Standard library only.

    python _build/weight.py          list the pieces; exit status 1 when one is over its limit

The first load is what every visit fetches before anything is drawn: the entries, all that they import statically, and
their style sheets. In another language than English the texts of every page come with it. Everything else is a lazy
piece, fetched when a view or a dialog is first shown.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

STATIC = Path(__file__).resolve().parent.parent / "torch_tb_profiler" / "static"

#: bytes, gzipped
FIRST_LOAD_LIMIT = 130_000
LAZY_LIMIT = 160_000

#: The door of TensorBoard and of a report. What it imports dynamically, it always imports.
DOOR = "src/index.ts"

#: The name of the piece that has what every page needs in a language; see vite.config.ts.
LANGUAGE = re.compile(r"[a-z]{2}-[A-Z]{2}")


class Piece(NamedTuple):
    """One file of the build."""

    file: str
    size: int  #: bytes, gzipped
    module: str  #: what it was made of: the key of Vite's manifest


class Weight(NamedTuple):
    first: list[Piece]
    lazy: list[Piece]
    languages: dict[str, list[Piece]]  #: what the first load has besides, by language; these are in lazy, too

    @property
    def first_load(self) -> int:
        return sum(piece.size for piece in self.first)

    def first_loads(self) -> dict[str, int]:
        """By language, the one without texts of its own first."""
        others = {name: self.first_load + sum(p.size for p in more) for name, more in self.languages.items()}
        return {"en": self.first_load, **others}

    def problems(self) -> list[str]:
        """What is over its limit, in words."""
        found = [] if self.languages else ["no piece is named by its language: see vite.config.ts"]
        for language, size in self.first_loads().items():
            if size > FIRST_LOAD_LIMIT:
                found.append(
                    f"the first load ({language}) has {size:,} bytes, at most {FIRST_LOAD_LIMIT:,} are allowed"
                )
        for file, size, module in self.lazy:
            if size > LAZY_LIMIT:
                found.append(f"{file} ({module}) has {size:,} bytes, at most {LAZY_LIMIT:,} are allowed")
        return found


def weigh(static: Path = STATIC) -> Weight:
    """Weighs a build by its `manifest.json`. Raises FileNotFoundError where there is none."""
    manifest = json.loads((static / "manifest.json").read_text("utf-8"))
    door = closure(manifest, [DOOR])
    first = closure(manifest, door | {module for each in door for module in manifest[each].get("dynamicImports", [])})
    files = {manifest[module]["file"]: module for module in manifest}
    files |= {css: module for module in manifest for css in manifest[module].get("css", [])}
    in_first = {manifest[module]["file"] for module in first}
    in_first |= {css for module in first for css in manifest[module].get("css", [])}
    pieces = [Piece(file, gzipped(static / file), module) for file, module in files.items()]
    pieces.sort(key=lambda piece: -piece.size)
    lazy = [piece for piece in pieces if piece.file not in in_first]
    languages = {}
    for module, piece in manifest.items():
        if LANGUAGE.fullmatch(piece.get("name", "")):
            files_of = {manifest[each]["file"] for each in closure(manifest, [module])}
            languages[piece["name"]] = [each for each in lazy if each.file in files_of]
    return Weight([piece for piece in pieces if piece.file in in_first], lazy, languages)


def closure(manifest: dict[str, dict[str, Any]], modules: Iterable[str]) -> set[str]:
    """The modules and all that they import statically."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(manifest[module].get("imports", []))
    return found


def gzipped(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), compresslevel=9, mtime=0))


def main() -> int:
    weight = weigh()
    for language, size in weight.first_loads().items():
        print(f"{size:>9,}  first load in {language}")
    for title, pieces in (("first load", weight.first), ("lazy", weight.lazy)):
        print(f"{sum(piece.size for piece in pieces):>9,}  {title}")
        for file, size, _ in pieces:
            if size >= 1_000:
                print(f"{size:>9,}    {file}")
    problems = weight.problems()
    for problem in problems:
        print(f"too heavy: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
