"""Known weaknesses of what is bundled and needed: `npm audit` and `pip-audit`, where their data can be reached.

    python _build/audit.py

Exit status 1 when there is a weakness. Where there is no data, that is said and is no failure: CI that must have it
sets AUDIT_REQUIRED=1. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import frontend
import sbom

NO_DATA = "NO DATA"


def npm() -> tuple[str, str]:
    """What npm's registry knows of the packages that are bundled: a verdict, and what there is to say."""
    node, command = frontend.any_node()
    path = str(Path(node).parent) + os.pathsep + os.environ.get("PATH", os.defpath)
    done = subprocess.run(
        [*command, "audit", "--omit=dev", "--json"],
        cwd=frontend.FE,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        check=False,
    )
    try:
        found = json.loads(done.stdout)
        total = found["metadata"]["vulnerabilities"]["total"]
    except (ValueError, KeyError):
        return NO_DATA, (done.stderr.strip() or done.stdout.strip())[-300:]
    return ("WEAK", ", ".join(found["vulnerabilities"])) if total else ("nothing known", "")


def pip() -> tuple[str, str]:
    """What PyPI knows of the newest versions of what is needed."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "requirements.txt")
        asked.write_text("\n".join(sbom.requirements()) + "\n")
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(asked)]
        command += ["--format", "json", "--progress-spinner", "off"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return verdict_of(done.stdout, done.stderr)


def verdict_of(told: str, said: str) -> tuple[str, str]:
    """A verdict of pip-audit's JSON, and what there is to say. What an index does not know was not looked at."""
    try:
        dependencies = json.loads(told)["dependencies"]
    except (ValueError, KeyError):
        return NO_DATA, said.strip()[-300:]
    weak = [each["name"] for each in dependencies if each.get("vulns")]
    unknown = [each["name"] for each in dependencies if "vulns" not in each]
    if weak:
        return "WEAK", ", ".join(weak)
    if unknown or not dependencies:
        return NO_DATA, f"of {', '.join(unknown) or 'anything'}"
    return "nothing known", ""


def main() -> int:
    verdicts = []
    for title, ask in (("npm audit, bundled packages", npm), ("pip-audit, dependencies", pip)):
        verdict, text = ask()
        verdicts.append(verdict)
        print(f"{title}: {verdict}{f' ({text})' if text else ''}", flush=True)
    unknown = NO_DATA in verdicts
    if unknown:
        print("make audit: what has NO DATA was NOT checked")
    return 1 if "WEAK" in verdicts or (unknown and os.environ.get("AUDIT_REQUIRED")) else 0


if __name__ == "__main__":
    sys.exit(main())
