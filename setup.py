"""Everything static is in pyproject.toml; this file adds the `build_fe` command and calls it where needed."""

from __future__ import annotations

import os
import sys
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.build_py import build_py as BuildPy
from setuptools.command.sdist import sdist as Sdist

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "_build"))
import frontend


def build_ui(force: bool = False) -> None:
    try:
        frontend.build(force)
    except frontend.FrontendError as error:
        raise SystemExit(f"\n{error}\n") from None


class BuildFe(Command):
    description = "build the UI: fe/ -> torch_tb_profiler/static/"
    user_options: ClassVar = [("force", "f", "build even if static/ is up to date")]
    boolean_options: ClassVar = ["force"]

    def initialize_options(self) -> None:
        self.force = False

    def finalize_options(self) -> None:
        pass

    def run(self) -> None:
        build_ui(bool(self.force))


class BuildPyWithUi(BuildPy):
    def run(self) -> None:
        build_ui()
        # Collected before the UI was there; it is collected again on the next look.
        self.__dict__.pop("data_files", None)
        super().run()


class SdistWithUi(Sdist):
    def run(self) -> None:
        build_ui()
        super().run()


def addresses(project: str | None) -> dict[str, str]:
    """For the metadata: none where it is not known at which address the project is."""
    if not project:
        return {}
    return {
        "Documentation": f"{project}/tree/main/docs",
        "Source": project,
        "Issues": f"{project}/issues",
        "Changelog": f"{project}/blob/main/CHANGELOG.md",
    }


setup(
    project_urls=addresses(os.environ.get("PROJECT_URL")),
    cmdclass={"build_fe": BuildFe, "build_py": BuildPyWithUi, "sdist": SdistWithUi},
)
