"""How much of the UI a browser fetches, gzipped. Standard library only.

    python _build/weight.py          list the pieces; exit status 1 when one is over its limit

The first load is what every visit fetches before anything is drawn: the entries, all that they import statically, and
their style sheets. In another language than English the texts of every page come with it. Everything else is a lazy
piece, fetched when a view or a dialog is first shown. The first view is Overview: with the first load it is what a page
fetches before it says anything.
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
FIRST_VIEW_LIMIT = 175_000  #: with the first load, in English
FIRST_VIEW_FILES = 20

#: The door of TensorBoard and of a report. What it imports dynamically, it always imports.
DOOR = "src/index.ts"
FIRST_VIEW = "src/views/overview/index.tsx"

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
    first_view: list[Piece]  #: of the first load and the first view
    languages: dict[str, list[Piece]]  #: what the first load has besides, by language; these are in lazy, too

    @property
    def first_load(self) -> int:
        return total(self.first)

    def first_loads(self) -> dict[str, int]:
        """By language, the one without texts of its own first."""
        others = {name: self.first_load + total(more) for name, more in self.languages.items()}
        return {"en": self.first_load, **others}

    def problems(self) -> list[str]:
        """What is over its limit, in words."""
        found = [] if self.languages else ["no piece is named by its language: see vite.config.ts"]
        for language, size in self.first_loads().items():
            if size > FIRST_LOAD_LIMIT:
                found.append(
                    f"the first load ({language}) has {size:,} bytes, at most {FIRST_LOAD_LIMIT:,} are allowed"
                )
        if (size := total(self.first_view)) > FIRST_VIEW_LIMIT:
            found.append(f"the first view has {size:,} bytes, at most {FIRST_VIEW_LIMIT:,} are allowed")
        if (files := len(self.first_view)) > FIRST_VIEW_FILES:
            found.append(f"the first view has {files} files, at most {FIRST_VIEW_FILES} are allowed")
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
    in_first = files_of(manifest, first)
    in_first_view = in_first | files_of(manifest, closure(manifest, [FIRST_VIEW]))
    pieces = [Piece(file, gzipped(static / file), module) for file, module in files.items()]
    pieces.sort(key=lambda piece: -piece.size)
    lazy = [piece for piece in pieces if piece.file not in in_first]
    languages = {}
    for module, piece in manifest.items():
        if LANGUAGE.fullmatch(piece.get("name", "")):
            in_language = files_of(manifest, closure(manifest, [module]))
            languages[piece["name"]] = [each for each in lazy if each.file in in_language]
    return Weight(
        first=[piece for piece in pieces if piece.file in in_first],
        lazy=lazy,
        first_view=[piece for piece in pieces if piece.file in in_first_view],
        languages=languages,
    )


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


def files_of(manifest: dict[str, dict[str, Any]], modules: Iterable[str]) -> set[str]:
    """What modules are in: their code and their style sheets."""
    return {file for module in modules for file in (manifest[module]["file"], *manifest[module].get("css", []))}


def total(pieces: Iterable[Piece]) -> int:
    """Bytes, gzipped."""
    return sum(piece.size for piece in pieces)


def gzipped(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), compresslevel=9, mtime=0))


def main() -> int:
    weight = weigh()
    for language, size in weight.first_loads().items():
        print(f"{size:>9,}  first load in {language}")
    print(f"{total(weight.first_view):>9,}  first load and first view, {len(weight.first_view)} files")
    for title, pieces in (("first load", weight.first), ("lazy", weight.lazy)):
        print(f"{total(pieces):>9,}  {title}")
        for file, size, _ in pieces:
            if size >= 1_000:
                print(f"{size:>9,}    {file}")
    problems = weight.problems()
    for problem in problems:
        print(f"too heavy: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
