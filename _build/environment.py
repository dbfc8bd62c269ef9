"""Makes a virtual environment with pip: python3 _build/environment.py DIRECTORY. Standard library only.

Debian keeps the part of Python that puts pip into an environment in a package of its own, python3-venv. Where
it is missing it is installed with apt if that is allowed here, else the message says what to do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def as_root() -> list[str] | None:
    """What to put before a command to run it as root without a question asked; None if that cannot be."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n"]
    return None


def apt_install(*packages: str) -> bool:
    """Installs Debian packages; False if there is no apt, no right to use it, or it failed."""
    root = as_root()
    if shutil.which("apt-get") is None or root is None:
        return False
    settings = ["env", "DEBIAN_FRONTEND=noninteractive"]
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    print(f"Installing the system package {' '.join(packages)}", flush=True)
    # First with the package lists at hand, then with fresh ones.
    for command in (install, ["apt-get", "update"], install):
        ended_well = subprocess.run([*root, *settings, *command], check=False).returncode == 0
        if ended_well and command is install:
            return True
    return False


def make_environment(directory: str) -> bool:
    return subprocess.run([sys.executable, "-m", "venv", "--clear", directory], check=False).returncode == 0


def can_make_environments() -> bool:
    return (
        subprocess.run([sys.executable, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode
        == 0
    )


def main() -> int:
    if sys.version_info < (3, 10):  # noqa: UP036 - the reader may start this with an older Python
        print(f"Python 3.10 or newer is needed, this is {sys.version.split()[0]}: make PYTHON=python3.11 ...")
        return 1
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    if not can_make_environments() and not apt_install(package):
        print(f"\nThis Python cannot make virtual environments. As root: apt-get install {package}")
        return 1
    return 0 if make_environment(sys.argv[1]) else 1


if __name__ == "__main__":
    sys.exit(main())
