"""The wheel in bare environments: every Python there is, with the oldest and the newest of what it needs.

    python _build/matrix.py WHEEL [PYTHON ...]

Pythons: 3.10 to 3.14 by default, taken from the PATH and from pyenv; one that the machine has not is named at the end.
"Oldest" is the least version that pyproject.toml allows of each dependency, as far as there is a wheel of it for that
Python: else the first that has one. "Newest" is what pip takes. Exit status 1 when one does not work. Standard library
only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import sbom

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: what TensorBoard before 2.21 needs beside it, see README.md
BESIDE = ("setuptools<82",)
#: the first versions with wheels for a Python, where the least that is allowed has none
FIRST_WHEELS = {
    "numpy": {"3.13": "2.1.0", "3.14": "2.3.2"},
    "msgspec": {"3.13": "0.19.0", "3.14": "0.20.0"},
    "zstandard": {"3.13": "0.23.0", "3.14": "0.25.0"},
    "regex": {"3.12": "2023.10.3", "3.13": "2024.9.11", "3.14": "2025.9.1"},
    "isal": {"3.14": "1.8.0"},
    # 2.15 to 2.19 take a module that Python has no more (imghdr)
    "tensorboard": {"3.13": "2.20.0", "3.14": "2.20.0"},
}


def interpreter(version: str) -> str | None:
    """The path of a Python of this version that works."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    installed = sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
    candidates = [shutil.which(f"python{version}"), *map(str, installed)]
    for candidate in filter(None, candidates):
        check = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        try:
            if subprocess.run(check, capture_output=True, text=True, check=False).stdout.strip() == version:
                return candidate
        except OSError:
            continue
    return None


def oldest(version: str) -> list[str]:
    """Requirements that name the least versions."""
    found = []
    for requirement in sbom.requirements():
        match = re.fullmatch(r"([\w.-]+)>=([\w.]+)(;.*)?", requirement.replace(" ;", ";"))
        assert match is not None, f"{requirement}: no least version"
        name, least, marker = match[1], match[2], match[3] or ""
        found.append(f"{name}=={FIRST_WHEELS.get(name, {}).get(version, least)}{marker}")
    return [*found, *BESIDE]


def attempt(python: str, wheel: Path, requirements: list[str], folder: Path) -> tuple[bool, str]:
    """Whether it works in a new environment, and the last line of what was said."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": ""}
    own = folder / "bin" / "python"
    commands = [
        [python, "-m", "venv", str(folder)],
        [str(own), "-m", "pip", "install", "-q", "--only-binary", ":all:", str(wheel), *requirements],
        [str(own), "-m", "pip", "check"],
        [str(own), str(Path(__file__).with_name("smoke.py"))],
    ]
    said = ""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder.parent, check=False)
        said = (done.stdout + done.stderr).strip().rpartition("\n")[2]
        if done.returncode:
            return False, f"{' '.join(command[1:4])}: {done.stderr.strip() or done.stdout.strip()}"
    return True, said


def main(arguments: list[str]) -> int:
    wheel, versions = Path(arguments[0]).resolve(), arguments[1:] or list(PYTHONS)
    missing, failed = [], []
    for version in versions:
        python = interpreter(version)
        if python is None:
            missing.append(version)
            continue
        for title, requirements in (("oldest", oldest(version)), ("newest", [])):
            with tempfile.TemporaryDirectory() as folder:
                works, said = attempt(python, wheel, requirements, Path(folder, "env"))
            print(f"Python {version}, {title}: {said}", flush=True)
            if not works:
                failed.append(f"{version} {title}")
    if missing:
        print(f"NOT tested, as the machine has no such Python: {', '.join(missing)}")
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return 1 if failed or len(missing) == len(versions) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
