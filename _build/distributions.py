"""Distributions whose bytes depend on their content alone. Standard library only.

Times are that of SOURCE_DATE_EPOCH (seconds), or of the last commit, or the start of 1980; owners are nobody, rights
the usual ones, and names sorted. The wheel has a list of what is in it and what it needs in `.dist-info/sboms`
(PEP 770).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import sbom

ROOT = Path(__file__).resolve().parent.parent
#: what ZIP archives can say, in seconds: 1980-01-01
EARLIEST = 315_532_800
VARIABLE = "SOURCE_DATE_EPOCH"


def epoch() -> int:
    """The time of every file, in seconds."""
    told = os.environ.get(VARIABLE, "")
    if not told.isdecimal() and (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            told = ""
    return max(int(told) if told.isdecimal() else EARLIEST, EARLIEST)


def rewrite_sdist(path: Path, seconds: int) -> None:
    """Write a .tar.gz anew."""
    with tarfile.open(path) as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
        contents = [(each, archive.extractfile(each)) for each in members]
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as written:
            for member, content in contents:
                member.mtime = seconds
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                member.pax_headers = {}
                written.addfile(member, content)
    path.write_bytes(gzip.compress(out.getvalue(), 9, mtime=0))


def rewrite_wheel(path: Path, seconds: int) -> None:
    """Write a wheel anew, with its list of components."""
    with zipfile.ZipFile(path) as archive:
        contents = {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
    (record,) = (name for name in contents if name.endswith(".dist-info/RECORD"))
    folder = record.removesuffix("/RECORD")
    del contents[record]
    version = folder.removesuffix(".dist-info").partition("-")[2]
    contents[f"{folder}/sboms/torch-tb-profiler.cdx.json"] = sbom.as_bytes(version, seconds)
    contents = {name: contents[name] for name in sorted(contents, key=lambda name: (".dist-info/" in name, name))}
    lines = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in contents.items()]
    contents[record] = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as written:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            written.writestr(info, content)


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
