"""What is in a distribution and what it needs, as CycloneDX 1.6 (JSON). Standard library only.

    python _build/sbom.py          print it

Bundled: the packages of fe/package-lock.json whose code is in the UI, exact. Needed: what pyproject.toml asks for, with
the ranges it gives, as what is installed is decided by the installer.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;\s*(.*))?")
#: packages of types only, whose code is nowhere in the UI; as in fe/licences.ts
_TYPES = re.compile(r"node_modules/(@types/.*|csstype)")
_PURL = "pkg:pypi/torch-tb-profiler"


def document(version: str, seconds: int) -> dict[str, Any]:
    """The list; the same for the same sources."""
    bundled, needed = _bundled(), _needed()
    reference = f"{_PURL}@{version}"
    content = json.dumps([bundled, needed, version])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "component": {
                "type": "library",
                "bom-ref": reference,
                "name": "torch-tb-profiler",
                "version": version,
                "licenses": [{"license": {"id": "BSD-3-Clause"}}],
                "purl": reference,
            },
        },
        "components": [*bundled, *needed],
        "dependencies": [{"ref": reference, "dependsOn": sorted(each["bom-ref"] for each in [*bundled, *needed])}],
    }


def as_bytes(version: str, seconds: int) -> bytes:
    return (json.dumps(document(version, seconds), indent=1) + "\n").encode()


def _bundled() -> list[dict[str, Any]]:
    packages: dict[str, dict[str, Any]] = json.loads((ROOT / "fe" / "package-lock.json").read_text())["packages"]
    found = []
    for path, package in packages.items():
        if not path or package.get("dev") or package.get("optional") or _TYPES.fullmatch(path):
            continue
        name = path.rpartition("node_modules/")[2]
        purl = f"pkg:npm/{quote(name, safe='/')}@{package['version']}"
        component: dict[str, Any] = {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": package["version"],
            "scope": "required",
            "licenses": [{"license": {"id": package["license"]}}],
            "purl": purl,
        }
        if package.get("integrity", "").startswith("sha512-"):
            component["hashes"] = [{"alg": "SHA-512", "content": _sha512(package["integrity"])}]
        found.append(component)
    return found


def _sha512(integrity: str) -> str:
    return base64.b64decode(integrity.removeprefix("sha512-")).hex()


def _needed() -> list[dict[str, Any]]:
    found = []
    for requirement in requirements():
        match = _REQUIREMENT.fullmatch(requirement)
        assert match is not None, requirement
        name, versions, marker = match[1].lower(), match[2].strip(), match[3]
        properties = [{"name": "torch-tb-profiler:versions", "value": versions}]
        if marker:
            properties.append({"name": "torch-tb-profiler:marker", "value": marker})
        purl = f"pkg:pypi/{name}"
        component = {"type": "library", "bom-ref": purl, "name": name, "scope": "required", "purl": purl}
        found.append({**component, "properties": properties})
    return found


def requirements() -> list[str]:
    """`dependencies` of pyproject.toml; read without a TOML parser, which Python 3.10 has not."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    block = text[text.index("\ndependencies = [") : text.index("\n]", text.index("\ndependencies = ["))]
    return re.findall(r'^\s+"(.*)",$', block, re.MULTILINE)


def version() -> str:
    text = (ROOT / "torch_tb_profiler" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


if __name__ == "__main__":
    from distributions import epoch

    sys.stdout.write(as_bytes(version(), epoch()).decode())
