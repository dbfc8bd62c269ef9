"""What a release is made with: numbers that agree, targets that exist, limits of what is needed."""

from __future__ import annotations

import json
import re
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

import audit
import distributions
import matrix
import release
import sbom


def test_version_changelog_and_citation_agree() -> None:
    assert release.versions() is None


def test_the_least_of_every_dependency_is_named(repository: Path) -> None:
    asked = re.findall(r'^    "([\w.-]+)>=', (repository / "pyproject.toml").read_text(), re.MULTILINE)
    for version in matrix.PYTHONS:
        least = matrix.oldest(version)
        assert [each.partition("==")[0] for each in least if "==" in each.split(";")[0]] == [
            name for name in asked if name in {line.partition(">=")[0] for line in sbom.requirements()}
        ]
    assert set(matrix.FIRST_WHEELS) <= {line.partition(">=")[0] for line in sbom.requirements()}


@pytest.mark.parametrize(
    ("dependencies", "verdict"),
    [
        ([{"name": "a", "vulns": []}], "nothing known"),
        ([{"name": "a", "vulns": [{"id": "CVE-1"}]}, {"name": "b", "skip_reason": "not found"}], "WEAK"),
        ([{"name": "a", "vulns": []}, {"name": "b", "skip_reason": "not found"}], "NO DATA"),
        ([], "NO DATA"),
    ],
)
def test_what_was_not_looked_at_is_not_said_to_be_good(dependencies: list[dict[str, object]], verdict: str) -> None:
    assert audit.verdict_of(json.dumps({"dependencies": dependencies}), "")[0] == verdict
    assert audit.verdict_of("", "no network") == ("NO DATA", "no network")


def test_hosted_ci_calls_targets_that_there_are(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text()
    texts = {path.stem: path.read_text() for path in (repository / ".github" / "workflows").glob("*.yml")}
    called_by = {name: set(re.findall(r"run: make ([\w-]+)", text)) for name, text in texts.items()}
    called = set().union(*called_by.values())
    assert {"test", "matrix"} <= called_by["ci"]
    assert {"test-long", "test-hdfs", "attack", "audit"} <= called_by["nightly"]
    assert called_by["release"] == {"release-dry-run"}
    used = re.findall(r"uses: (\S+)", "".join(texts.values()))
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []
    assert [target for target in called if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_the_image_runs_as_nobody_and_writes_to_its_cache_alone(repository: Path) -> None:
    recipe = (repository / "docker" / "Dockerfile").read_text().splitlines()
    assert "USER 10001" in recipe
    assert [line for line in recipe if line.startswith("VOLUME")] == ["VOLUME /cache"]
    services = (repository / "docker" / "compose.yaml").read_text()
    for line in ("read_only: true", "cap_drop: [ALL]", "- ${LOGS:?the log directory}:/logs:ro"):
        assert line in services


def test_components_are_the_same_for_the_same_sources() -> None:
    made = sbom.as_bytes("1.2.3", 1_700_000_000)
    assert made == sbom.as_bytes("1.2.3", 1_700_000_000)
    document = json.loads(made)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    references = [each["bom-ref"] for each in document["components"]]
    assert len(set(references)) == len(references)
    assert document["dependencies"][0]["dependsOn"] == sorted(references)


@pytest.mark.parametrize(("told", "seconds"), [("1700000000", 1_700_000_000), ("5", distributions.EARLIEST)])
def test_the_time_of_every_file(told: str, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(distributions.VARIABLE, told)
    assert distributions.epoch() == seconds


def test_distributions_are_rewritten_without_what_differs(tmp_path: Path) -> None:
    made = []
    for times in ((1, 2), (300, 4)):
        sdist, wheel = tmp_path / "a.tar.gz", tmp_path / "a-1.whl"
        with tarfile.open(sdist, "w:gz") as archive:
            for name, at in zip(("b", "a")[:: 1 if times[0] == 1 else -1], times, strict=True):
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.mode, member.uname = 1, at, 0o600 + 0o44 * (at % 2), str(at)
                archive.addfile(member, BytesIO(b"x"))
        with zipfile.ZipFile(wheel, "w") as zipped:
            for name in ("a/b.py", "a-1.dist-info/METADATA", "a-1.dist-info/RECORD"):
                zipped.writestr(zipfile.ZipInfo(name, (2000 + times[0], 1, 1, 0, 0, 0)) if times[0] < 50 else name, "x")
        distributions.rewrite_sdist(sdist, 10**9)
        distributions.rewrite_wheel(wheel, 10**9)
        made.append((sdist.read_bytes(), wheel.read_bytes()))
    assert made[0] == made[1]
