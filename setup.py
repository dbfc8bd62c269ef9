"""Everything static is in pyproject.toml; this file adds the `build_fe` command and calls it where needed."""

from __future__ import annotations

import os
import re
import sys
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.build_py import build_py as BuildPy
from setuptools.command.sdist import sdist as Sdist

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "_build"))
import frontend

#: of `torch-tb-profiler demo`
SAMPLE = "samples/ddp_gloo_2ranks"


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
        if not self.editable_mode:  # there the command finds it in samples/
            self.copy_tree(SAMPLE, os.path.join(self.build_lib, "torch_tb_profiler", "demo", os.path.basename(SAMPLE)))


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


_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)]+)\)")


def readme(project: str | None) -> str:
    """For a package index, where there are no files beside it: links lead to the project, or are plain text."""

    def absolute(link: re.Match[str]) -> str:
        if not project:
            return "" if link["picture"] else link["text"]
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({project}/{kind}/main/{link['path']})"

    with open("README.md", encoding="utf-8") as file:
        return _LINK.sub(absolute, file.read())


PROJECT = os.environ.get("PROJECT_URL")
setup(
    long_description=readme(PROJECT),
    long_description_content_type="text/markdown",
    project_urls=addresses(PROJECT),
    cmdclass={"build_fe": BuildFe, "build_py": BuildPyWithUi, "sdist": SdistWithUi},
)
