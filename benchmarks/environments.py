"""The environments things are measured in: ours, and one for each peer with its released package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from torch_tb_profiler.workspace.reading.pool import VARIABLES as WORKER_VARIABLES

ROOT = Path(__file__).parent.parent
WORK = ROOT / "benchmarks" / ".work"
PROBES = ROOT / "benchmarks" / "probes"


@dataclass(frozen=True)
class Environment:
    """A directory with a Python; the requirements are installed when it is made.

    shown: distributions whose versions the report names
    """

    directory: Path
    requirements: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def python(self) -> Path:
        return self.directory / "bin" / "python"

    def script(self, name: str) -> Path:
        return self.directory / "bin" / name

    def make(self) -> None:
        stamp = self.directory / "requirements"
        wanted = "\n".join(self.requirements)
        if stamp.exists() and stamp.read_text() == wanted:
            return
        subprocess.run([sys.executable, "-m", "venv", "--clear", self.directory], check=True)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *self.requirements], check=True)
        stamp.write_text(wanted)

    def versions(self) -> dict[str, str]:
        code = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
        # -I: the metadata of this checkout must not be found in the current directory
        found = subprocess.run([self.python, "-I", "-c", code, *self.shown], check=True, capture_output=True, text=True)
        return dict(zip(self.shown, found.stdout.split(), strict=True))


OURS = Environment(
    WORK / "ours",
    (
        "tensorboard==2.21.*",
        "numpy",
        "msgspec",
        "isal",
        "werkzeug",
        "zstandard",
        "duckdb>=2,<3",
        "regex",
        "boto3",
        "distributed",
        "pytest",
        "hypothesis",
    ),
    ("torch-tb-profiler", "tensorboard", "numpy", "msgspec", "isal", "werkzeug"),
)
OLD = Environment(
    WORK / "old",
    ("torch-tb-profiler==0.4.3", "tensorboard==2.21.*", "pandas"),
    ("torch-tb-profiler", "tensorboard", "pandas"),
)
HTA = Environment(
    WORK / "hta",
    ("HolisticTraceAnalysis==0.5.0", "pandas<3"),
    ("HolisticTraceAnalysis", "pandas"),
)
FLOOR = Environment(WORK / "floor", ("pysimdjson==7.0.2", "isal"), ("pysimdjson", "isal"))


def install_ours() -> None:
    """This checkout as it is now, installed as users have it: what is edited during a run is not measured."""
    OURS.make()
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(
        ROOT / "torch_tb_profiler", source / "torch_tb_profiler", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "_build", source / "_build", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    (source / "fe").mkdir()
    shutil.copy(ROOT / "fe" / "package-lock.json", source / "fe")  # the list of what is in the page, for the SBOM
    install: list[str | Path] = [OURS.python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
    subprocess.run([*install, source], check=True, env={**os.environ, "SKIP_BUILD_FE": "1"})


def routes_of_ours() -> list[str]:
    """The route table of the installed package."""
    code = "import json; from torch_tb_profiler.web.app import ROUTES; print(json.dumps(sorted(ROUTES)))"
    found = subprocess.run([OURS.python, "-I", "-c", code], check=True, capture_output=True, text=True)
    routes: list[str] = json.loads(found.stdout)
    return routes


def variables(cache: Path | None = None) -> dict[str, str]:
    """Environment variables for what is measured: compiled Python may be kept, nothing touches the user's cache."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"XDG_CACHE_HOME": str(cache or WORK / "cache")}


def one_thread() -> dict[str, str]:
    """As `workspace.pool` starts its processes."""
    return variables() | WORKER_VARIABLES
