"""What is built, and that it installs where there is no Node and no npm registry."""

from __future__ import annotations

import base64
import csv
import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import house
from tests.recorded import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

NO_REGISTRY = {
    "npm_config_registry": "http://127.0.0.1:1",
    "npm_config_fetch_retries": "0",
}
PROJECT_URL = "https://example.org/project"
#: what distributions depend on beside their sources: seconds of all files, the address of the project
FIXED = {"SOURCE_DATE_EPOCH": "1700000000", "PROJECT_URL": PROJECT_URL}


@pytest.fixture(scope="session")
def without_node(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose PATH has everything but Node."""
    folder = tmp_path_factory.mktemp("bin")
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*"):
            if program.name not in {"node", "nodejs", "npm", "npx"} and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    cache = tmp_path_factory.mktemp("npm-cache")
    return {**os.environ, "PATH": str(folder), "npm_config_cache": str(cache)}


@pytest.fixture(scope="session")
def checkout(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean repository with what this one has: nothing built, nothing ignored."""
    target = tmp_path_factory.mktemp("checkout")
    for name in house.files_of(repository):
        if not name.startswith("samples/") or name.startswith("samples/ddp_gloo_2ranks/"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, target / name)
    run(["git", "init", "-q"], cwd=target)
    run(["git", "add", "-A"], cwd=target)
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    run(["git", *identity, "commit", "-q", "-m", "all"], cwd=target)
    return target


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what builds the package, which pip would otherwise install for each sdist and wheel."""
    folder = tmp_path_factory.mktemp("builder")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    run([sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), *needed])
    return folder


def build(source: Path, static: Path, builder: Path, environment: Mapping[str, str]) -> None:
    """Build both, with the UI of `make ui`."""
    shutil.copytree(static, source / "torch_tb_profiler" / "static")
    surroundings = {**environment, **NO_REGISTRY, **FIXED, "PYTHONPATH": str(builder)}
    run([sys.executable, "-m", "build", "--no-isolation", str(source)], env=surroundings)


@pytest.fixture(scope="session")
def distributions(
    repository: Path,
    checkout: Path,
    builder: Path,
    without_node: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it; this must not need Node."""
    source = tmp_path_factory.mktemp("build") / "source"
    shutil.copytree(checkout, source)
    build(source, repository / "torch_tb_profiler" / "static", builder, without_node)
    (sdist,) = (source / "dist").glob("*.tar.gz")
    (wheel,) = (source / "dist").glob("*.whl")
    return sdist, wheel


def run(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(what: str, folder: Path, environment: Mapping[str, str]) -> Path:
    """Install it, without what it depends on, into a new virtual environment, whose Python is returned."""
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-compile", what]
    run(pip, env=environment)
    return python


def built_ui(repository: Path) -> set[str]:
    static = repository / "torch_tb_profiler" / "static"
    return {f"static/{path.relative_to(static).as_posix()}" for path in static.rglob("*") if path.is_file()}


def test_wheel(distributions: tuple[Path, Path], repository: Path) -> None:
    with zipfile.ZipFile(distributions[1]) as archive:
        names = set(archive.namelist())
        (entry_points,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        text = archive.read(entry_points).decode()
    inside = {name.removeprefix("torch_tb_profiler/") for name in names if name.startswith("torch_tb_profiler/")}
    assert "[tensorboard_plugins]\ntorch_profiler = torch_tb_profiler.plugin_loader:TorchProfilerLoader" in text
    assert "torch-tb-profiler = torch_tb_profiler.cli:main" in text
    assert {"py.typed", "__init__.py", "static/index.js"} <= inside
    assert built_ui(repository) - {"static/.fe-hash"} <= inside
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"torch_tb_profiler"}
    sources = {
        path.relative_to(repository / "torch_tb_profiler").as_posix()
        for path in (repository / "torch_tb_profiler").rglob("*.py")
    }
    assert sources == {name for name in inside if name.endswith(".py")}


def test_wheel_has_notices_types_and_its_components(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[1]) as archive:
        names = archive.namelist()
        (folder,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = email.message_from_bytes(archive.read(f"{folder}/METADATA"))
        components = json.loads(archive.read(f"{folder}/sboms/torch-tb-profiler.cdx.json"))
        notices = archive.read("torch_tb_profiler/static/THIRD_PARTY_NOTICES.txt").decode()
        recorded = {row[0]: row[1:] for row in csv.reader(archive.read(f"{folder}/RECORD").decode().splitlines())}
        assert set(recorded) == set(names)
        for name in set(names) - {f"{folder}/RECORD"}:
            content = archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert recorded[name] == [f"sha256={digest}", str(len(content))]
    assert {f"{folder}/licenses/LICENSE", f"{folder}/licenses/NOTICE"} <= set(names)
    assert metadata["License-Expression"] == "BSD-3-Clause"
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL"))
    assert urls == {
        "Documentation": f"{PROJECT_URL}/tree/main/docs",
        "Source": PROJECT_URL,
        "Issues": f"{PROJECT_URL}/issues",
        "Changelog": f"{PROJECT_URL}/blob/main/CHANGELOG.md",
    }
    page = metadata.get_payload()
    assert f"]({PROJECT_URL}/blob/main/docs/README.md)" in page
    assert f"]({PROJECT_URL}/raw/main/docs/pictures/overview.png)" in page
    assert re.findall(r"\]\((?!https?:|#)[^)]+\)", page) == []
    sample = [name for name in names if name.startswith("torch_tb_profiler/demo/ddp_gloo_2ranks/")]
    assert len(sample) == 2
    version = metadata["Version"]
    assert components["metadata"]["component"]["purl"] == f"pkg:pypi/torch-tb-profiler@{version}"
    needed = {each["name"] for each in components["components"] if each["purl"].startswith("pkg:pypi/")}
    asked = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert needed == {re.split(r"[^\w.-]", line)[0].lower() for line in asked}
    bundled = [each for each in components["components"] if each["purl"].startswith("pkg:npm/")]
    assert {"react", "react-dom", "@tanstack/react-query"} <= {each["name"] for each in bundled}
    for each in bundled:
        assert f"\n{each['name']} {each['version']} (" in f"\n{notices}"


def test_distributions_are_the_same_when_they_are_built_again(
    distributions: tuple[Path, Path], repository: Path, checkout: Path, builder: Path, tmp_path: Path
) -> None:
    """In another folder, at another time, with other rights of files."""
    source, static = tmp_path / "elsewhere", tmp_path / "static"
    shutil.copytree(checkout, source, ignore=shutil.ignore_patterns(".git"))
    shutil.copytree(repository / "torch_tb_profiler" / "static", static)
    for path in (*source.rglob("*"), *static.rglob("*")):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(path.stat().st_mode & ~0o077)
    build(source, static, builder, os.environ)
    for made in distributions:
        assert (source / "dist" / made.name).read_bytes() == made.read_bytes()


def test_sdist(distributions: tuple[Path, Path], repository: Path) -> None:
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {
        "CHANGELOG.md",
        "CITATION.cff",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "NOTICE",
        "README.md",
        "SECURITY.md",
        "pyproject.toml",
        "setup.py",
        "_build/backend.py",
        "_build/frontend.py",
    }
    expected |= {"fe/package.json", "fe/package-lock.json", "fe/vite.config.ts", "docs/openapi.json"}
    assert expected <= names
    assert "fe/src/api/schema.gen.ts" not in names
    assert {f"torch_tb_profiler/{name}" for name in built_ui(repository)} <= names
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name]


def test_sdist_installs_without_node(
    distributions: tuple[Path, Path], without_node: dict[str, str], tmp_path: Path
) -> None:
    """What it depends on is that of this Python; `make matrix` installs it."""
    python = install(str(distributions[0]), tmp_path / "env", {**without_node, **NO_REGISTRY})
    (packages,) = tmp_path.glob("env/lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    code = (
        "import importlib.metadata as m, importlib.resources as r, torch_tb_profiler as p;"
        "(e,) = m.entry_points(group='tensorboard_plugins', name='torch_profiler');"
        "print(e.load().__name__, m.version('torch-tb-profiler') == p.__version__,"
        " (r.files(p) / 'static' / 'index.js').is_file())"
    )
    assert run([str(python), "-c", code], cwd=tmp_path).split() == ["TorchProfilerLoader", "True", "True"]
    run([str(python.parent / "torch-tb-profiler"), "--help"], cwd=tmp_path)


def test_a_person_with_the_wheel_and_a_terminal_reaches_the_cause(
    distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    """By what is printed alone: `demo` says where its page is, and the command that says what to do."""
    python = install(str(distributions[1]), tmp_path / "env", dict(os.environ))
    (packages,) = tmp_path.glob("env/lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    program = str(python.parent / "torch-tb-profiler")
    surroundings = {**os.environ, "TORCH_TB_PROFILER_CACHE_DIR": str(tmp_path / "cache")}
    said = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([program, "demo", "--port", "0"], cwd=tmp_path, env=surroundings, **said) as demo:
        lines = [next(demo.stdout) for _ in range(3)]
        demo.terminate()
    assert any(line.startswith("PyTorch profiles at http://127.0.0.1:") for line in lines)
    (words,) = [line.split()[3:] for line in lines if line.startswith("In a terminal: ")]
    told = run([str(python.parent / words[0]), *words[1:]], cwd=tmp_path, env=surroundings)
    assert "rank1 is late, and other ranks wait for it" in told
    assert "Give all ranks the same amount of work" in told


@pytest.mark.long
def test_install_from_git_without_node(checkout: Path, without_node: dict[str, str], tmp_path: Path) -> None:
    install(f"git+{checkout.as_uri()}", tmp_path / "env", without_node)
    (index,) = tmp_path.glob("env/lib/python*/site-packages/torch_tb_profiler/static/index.js")
    assert index.stat().st_size > 0


def test_unreachable_registry_is_explained(checkout: Path, tmp_path: Path) -> None:
    environment = {**os.environ, **NO_REGISTRY, "npm_config_cache": str(tmp_path)}
    command = [sys.executable, str(checkout / "_build" / "frontend.py"), "build"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "npm could not reach its package registry" in done.stderr
    assert "SKIP_BUILD_FE=1" in done.stderr
    assert "Traceback" not in done.stderr
