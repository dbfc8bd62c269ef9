"""The documentation as a site: python _build/site_of_docs.py [--no-pictures]. What `make docs` does.

The pages are copied to build/site-source with the definitions of their columns and with pictures of the samples, and
Sphinx makes build/site of them. Every warning, such as a link that leads nowhere, is an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import columns

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"
SITE = ROOT / "build" / "site"

#: beside docs/: what its pages link to
PAGES = (
    "*.md",
    "LICENSE",
    "samples/README.md",
    "examples/README.md",
    "examples/*.py",
    "fe/src/i18n/README.md",
    "benchmarks/RESULTS.md",
)


def stage() -> None:
    """Put together what Sphinx reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for pattern in PAGES:
        for path in ROOT.glob(pattern):
            copy = SOURCE / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    defined = columns.all_definitions()
    for page in columns.pages():
        made = columns.with_tables(page.read_text("utf-8"), defined)
        (SOURCE / page.relative_to(ROOT)).write_text(made, "utf-8")
    with (SOURCE / "docs" / "site" / "index.md").open("a", encoding="utf-8") as index:
        index.write(menu((ROOT / "docs" / "README.md").read_text("utf-8")))


def menu(listed: str) -> str:
    """Return the tables of contents of the site: one for each section of docs/README.md, which lists every page."""
    sections = (section.partition("\n") for section in listed.split("\n## ")[1:])
    overview = toctree("Begin", ["../README.md", "README.md"])
    return overview + "".join(toctree(title, re.findall(r"\]\(([^)#:]+\.md)\)", text)) for title, _, text in sections)


def toctree(caption: str, pages: list[str]) -> str:
    """Return a table of contents. `pages`: paths as docs/ has them; the site's index is one folder below."""
    entries = "".join(f"../{page.removesuffix('.md')}\n" for page in pages)
    return f"\n```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n{entries}```\n"


def make_pictures() -> bool:
    """Into the copy: the browser looks at a server over the samples."""
    command = [sys.executable, str(ROOT / "_build" / "pictures.py"), str(SOURCE / "docs" / "pictures")]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def make_site(*options: str) -> bool:
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", *options]
    command += ["-c", str(ROOT / "docs" / "site"), str(SOURCE), str(SITE)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    stage()
    if "--no-pictures" in sys.argv[1:]:
        return 0 if make_site("-D", "suppress_warnings=image.not_readable,misc.highlighting_failure") else 1
    if not make_pictures() or not make_site():
        return 1
    print(f"{SITE / 'docs' / 'site' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
