"""Makes a small HDFS for the tests of storage: python _build/hadoop.py DIRECTORY. Standard library only.

The servers come out of the source distribution of an old pyspark, the last that carries them; libhdfs, which Arrow
loads, is compiled from the one that pydoop carries. Needs Java 17 (java, javac), a C compiler and a package index.
Ends with status 3 and the reason when a part cannot be had.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

PYSPARK, PYDOOP = "pyspark==2.4.8", "pydoop==2.0.0"
JARS = (
    "hadoop- jetty commons- guava protobuf log4j slf4j htrace netty xmlenc xerces javax.servlet javax.ws httpc jsr305"
    " jackson-core-asl jackson-mapper-asl"
).split()
NOT_SERVERS = ("mapreduce", "yarn")


class MissingError(Exception):
    """A part cannot be had; the message says which."""


def make(directory: Path) -> None:
    """Fill a directory with jars/ and libhdfs.so."""
    for program in ("java", "javac", "cc"):
        if shutil.which(program) is None:
            raise MissingError(f"there is no {program} on the PATH")
    directory.mkdir(parents=True, exist_ok=True)
    work = directory / "work"
    try:
        pip = _old_setuptools(work)
        jars = directory / "jars"
        shutil.rmtree(jars, ignore_errors=True)
        jars.mkdir()
        with tarfile.open(_download(pip, work, PYSPARK)) as archive:
            for member in archive:
                name = Path(member.name).name
                if "/jars/" in member.name and name.startswith(tuple(JARS)) and not any(n in name for n in NOT_SERVERS):
                    member.name = name
                    archive.extract(member, jars)
        with tarfile.open(_download(pip, work, PYDOOP)) as archive:
            archive.extractall(work)
        _compile(next(work.glob("pydoop-*/src/libhdfs")), directory / "libhdfs.so")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _old_setuptools(work: Path) -> list[str]:
    """The pip of an environment in which these old packages can say what they are."""
    venv.create(work / "environment", with_pip=True, clear=True)
    pip = [str(work / "environment" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "-q"]
    _run([*pip, "install", "setuptools<70", "wheel"])
    # pyspark's setup.py calls a function that pypandoc has no more.
    stub = work / "stub"
    about = stub / "pypandoc-1.7.5.dist-info"
    about.mkdir(parents=True)
    (stub / "pypandoc.py").write_text('def convert(*_, **__):\n    return ""\n')
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pypandoc\nVersion: 1.7.5\n")
    return pip


def _download(pip: list[str], work: Path, requirement: str) -> Path:
    options = ["--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--dest", str(work)]
    _run([*pip, "download", *options, requirement], PYTHONPATH=str(work / "stub"))
    return next(work.glob(requirement.replace("==", "-") + ".tar.gz"))


def _compile(source: Path, target: Path) -> None:
    home = Path(shutil.which("javac") or "").resolve().parents[1]
    server = home / "lib" / "server"
    include = [source, source / "include", source / "os", source / "os" / "posix", home / "include"]
    files = [str(path) for path in [*source.glob("*.c"), *source.glob("common/*.c"), *source.glob("os/posix/*.c")]]
    command = ["cc", "-shared", "-fPIC", "-O1", "-w", "-std=gnu99", "-fcommon"]
    command += [f"-I{path}" for path in [*include, home / "include" / "linux"]]
    _run([*command, *files, f"-L{server}", f"-Wl,-rpath,{server}", "-ljvm", "-lpthread", "-ldl", "-o", str(target)])


def _run(command: list[str], **variables: str) -> None:
    ended = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = "\n".join((ended.stdout + ended.stderr).strip().splitlines()[-5:])
        raise MissingError(f"{' '.join(command[:6])} ... failed:\n{said}")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        make(Path(arguments[0]))
    except MissingError as error:
        print(f"HDFS cannot be installed here: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
