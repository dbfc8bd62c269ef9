"""The checks of a release, all but the upload: docs/maintainers/releasing.md. Standard library only, beside `build`.

    python _build/release.py

Version, changelog and citation agree; distributions built twice (the wheel is made of the sdist) are the same; the
wheel installs in a bare environment and serves a trace there; weaknesses that are known. Each line says what was done.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import distributions
import matrix
import sbom

ROOT = Path(__file__).resolve().parent.parent


def versions() -> str | None:
    """What is wrong with the numbers."""
    version = sbom.version()
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        return f"{version} is no version"
    if f"\n## {version}" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        return f"CHANGELOG.md has no {version}"
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    if f"\nversion: {version}\n" not in citation or not re.search(
        r'^date-released: "\d{4}-\d\d-\d\d"$', citation, re.MULTILINE
    ):
        return f"CITATION.cff is not of {version}, or has no date"
    return None


def build(target: Path) -> dict[str, str]:
    """Build both into a folder; digests by name."""
    environment = {**os.environ, distributions.VARIABLE: str(distributions.epoch())}
    command = [sys.executable, "-m", "build", "--outdir", str(target), str(ROOT)]
    done = subprocess.run(command, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"the build failed:\n{done.stdout.decode(errors='replace')}")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.iterdir())}


def main() -> int:
    problems = []
    wrong = versions()
    print(f"version {sbom.version()}: {wrong or 'changelog and citation agree'}", flush=True)
    problems += [wrong] if wrong else []
    with tempfile.TemporaryDirectory() as folder:
        first, second = build(Path(folder, "first")), build(Path(folder, "second"))
        same = first == second
        print(f"built twice: {'the same bytes' if same else 'NOT the same bytes'}", flush=True)
        problems += [] if same else ["two builds differ"]
        dist = ROOT / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        shutil.copytree(Path(folder, "first"), dist)
        for name, digest in first.items():
            print(f"  sha256 {digest}  {name}")
        (wheel,) = dist.glob("*.whl")
        oldest = matrix.oldest(".".join(map(str, sys.version_info[:2])))
        for title, requirements in (("newest", []), ("oldest", oldest)):
            works, said = matrix.attempt(sys.executable, wheel, requirements, Path(folder, title))
            print(f"installed in a bare environment, {title} of what it needs: {said}", flush=True)
            problems += [] if works else [f"the wheel with the {title}"]
    (dist / "torch-tb-profiler.cdx.json").write_bytes(sbom.as_bytes(sbom.version(), distributions.epoch()))
    subprocess.run([sys.executable, str(ROOT / "_build" / "audit.py")], check=False)
    changes = ["git", "-C", str(ROOT), "status", "--porcelain"]
    dirty = subprocess.run(changes, capture_output=True, text=True, check=False)
    if dirty.stdout.strip():
        print("the working tree has changes that are not committed: tag a commit, not this")
    print(f"NOT ready: {'; '.join(problems)}" if problems else "ready: tag it, and the hosted CI uploads what it built")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
