"""Sentences are data: what is in the files of both languages, and how it is filled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.calls import calls_of, constants
from torch_tb_profiler import insights, words
from torch_tb_profiler.analysis.memory.failures import FailureReason
from torch_tb_profiler.analysis.memory.records import Missing
from torch_tb_profiler.analysis.snapshot.oom import InferredReason, OomReason
from torch_tb_profiler.analysis.snapshot.summary import SnapshotFindingId
from torch_tb_profiler.insights.rule import TEXTS
from torch_tb_profiler.insights.rules import RULES
from torch_tb_profiler.insights.run.rules import RUN_RULES
from torch_tb_profiler.insights.shared.device_words import Platform
from torch_tb_profiler.model.recording import DeviceEvidence
from torch_tb_profiler.reason import Value
from torch_tb_profiler.storage.blob import Blobs
from torch_tb_profiler.storage.errors import Attempt, ErrorKind, StoreFailure
from torch_tb_profiler.storage.files import _NAME as FILES
from torch_tb_profiler.storage.gs import Google
from torch_tb_profiler.storage.s3 import S3
from torch_tb_profiler.toml_text import toml_of
from torch_tb_profiler.words.formats import formatted
from torch_tb_profiler.words.sentences import Section, Sentence

ROOM = Path(words.__file__).parent
AREAS = sorted(path.relative_to(ROOM / "en").as_posix() for path in (ROOM / "en").rglob("*.toml"))
#: clauses, and no sentences
PLATFORMS = "platforms.toml"
CASES = json.loads((Path(__file__).parents[1] / "cases" / "words.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["sentence"]))
def test_a_sentence_is_filled(case: dict[str, Any]) -> None:
    section = Section({"it": case["sentence"], **case.get("section", {})}, case.get("shared", {}))
    if case["said"] is None:
        with pytest.raises(KeyError):
            section.say("it", case["values"])
    else:
        assert section.say("it", case["values"]) == case["said"]


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        (1, "kernel|kernels", "kernel"),
        (2, "kernel|kernels", "kernels"),
        (18, "often", "3 times a step"),
        (5, "often", "5 times in 6 steps"),
        (18, "many call", "3 calls a step"),
        (r"step\d", "quoted", r"'step\\d'"),
    ],
)
def test_english_has_formats_of_its_own(value: Value, how: str, text: str) -> None:
    assert formatted(value, how, {"steps": 6}) == text


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        ("idle.sync", "part", "Synchronization"),
        ("0", "each GPU", "GPU 0"),
        ("0, 1", "each GPU", "GPU 0 and GPU 1"),
        ("0, 1, 3", "each GPU", "GPU 0, GPU 1 and GPU 3"),
    ],
)
def test_english_has_names_of_its_own(value: str, how: str, text: str) -> None:
    assert formatted(value, how, {}) == text


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no format 'furlongs'"):
        formatted(1, "furlongs", {})


def file(language: str, area: str) -> dict[str, dict[str, Sentence]]:
    return toml_of((ROOM / language / area).read_text("utf-8"))


def names_in(sentence: Sentence) -> Iterator[str]:
    """The values and other sentences that a sentence names."""
    if isinstance(sentence, str):
        yield from re.findall(r"(?<!\{)\{(\w+)(?::[^{}]*)?\}", sentence)
        return
    for key, choice in sentence.items():
        if key == "by":
            yield choice
        else:
            yield from names_in(choice)


def values_in(section: Mapping[str, Sentence], shared: Mapping[str, Sentence]) -> set[str]:
    return {name for part in (section, shared) for each in part.values() for name in names_in(each)} - {
        *section,
        *shared,
    }


@pytest.mark.parametrize("area", [area for area in AREAS if area != PLATFORMS])
def test_both_languages_say_the_same(area: str) -> None:
    """Chinese has the same sections, sentences for what is shown, and no values that English does not know."""
    english, chinese = file("en", area), file("zh-CN", area)
    of_addresses = {"addresses"} if area == "links.toml" else set()
    assert english.keys() - of_addresses - {"shared"} == chinese.keys() - {"shared"}
    for name, section in chinese.items():
        shared = chinese.get("shared", {})
        theirs = values_in(english[name], english.get("shared", {})) if name in english else set()
        if name != "shared":
            assert values_in(section, shared) <= theirs | {"platform", "steps", "errno"}, name


def test_every_rule_has_its_words() -> None:
    """And no words are of a rule that is gone."""
    said = {
        (area.removesuffix(".toml"), name)
        for area in AREAS
        if area.startswith("rules/")
        for name in file("en", area)
        if name != "shared"
    }
    rules = [*((rule.family, rule.id) for rule in RULES), *((rule.family, rule.id) for rule in RUN_RULES)]
    assert said == {(f"rules/{family}", id_) for family, id_ in rules}
    for area, name in said:
        for language in ("en", "zh-CN"):
            assert set(TEXTS) <= file(language, f"{area}.toml")[name].keys(), name


@pytest.mark.parametrize(("area", "section"), [("evidence", "labels"), ("links", "titles")])
def test_each_label_and_page_is_used(area: str, section: str) -> None:
    sources = "".join(path.read_text("utf-8") for path in Path(insights.__file__).parent.rglob("*.py"))
    assert [key for key in file("en", f"{area}.toml")[section] if f'"{key}"' not in sources] == []


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_whatever_memory_ran_out_of_has_its_words(language: str) -> None:
    said = file(language, "memory.toml")
    structs = {"device", "empty", "failure", "inferred_oom", "oom"}
    assert said.keys() - {"shared"} == {*structs, *get_args(SnapshotFindingId)}
    for section, reasons in (("oom", OomReason), ("inferred_oom", InferredReason), ("failure", FailureReason)):
        choices = [each for each in said[section].values() if not isinstance(each, str) and each["by"] == "reason"]
        assert [each.keys() - {"by"} for each in choices] == [set(get_args(reasons))], section


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_refusal_has_its_words(language: str) -> None:
    said = file(language, "refusals.toml")["texts"]
    assert said.keys() == {id_ for call in calls_of("ReplayRefusal") for id_ in constants(call, 0)}
    assert file("en", "refusals.toml")["texts"]["no_device"].keys() - {"by"} == set(get_args(DeviceEvidence))


def test_both_languages_know_the_same_devices() -> None:
    english, chinese = file("en", PLATFORMS), file("zh-CN", PLATFORMS)
    assert english["groups"] == chinese["groups"]
    assert english["clauses"].keys() == chinese["clauses"].keys() == set().union(*english["groups"].values())
    assert english["groups"].keys() | {"cuda"} == set(get_args(Platform))
    assert english["names"].keys() <= english["groups"].keys()


def texts_in(sentence: Sentence) -> Iterator[str]:
    """All that a sentence may be."""
    if isinstance(sentence, str):
        yield sentence
    else:
        for key, choice in sentence.items():
            if key != "by":
                yield from texts_in(choice)


def test_every_note_has_its_words(repository: Path) -> None:
    """Those that are made by their names, and those that are documented."""
    health = (repository / "docs" / "health.md").read_text("utf-8")
    documented = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`[^|]*) \|", health, re.MULTILINE))))
    made = {kind for name in ("note", "_note") for call in calls_of(name) for kind in constants(call, 0)}
    said = file("en", "notes.toml").keys() - {"shared"}
    assert said == made | documented | set(get_args(Missing))


def test_remedies_in_words_are_known_in_chinese() -> None:
    english, chinese = file("en", "notes.toml"), file("zh-CN", "notes.toml")
    shared = english.pop("shared")
    for kind, section in english.items():
        texts = [str(shared.get(text.strip("{}"), text)) for text in texts_in(section.get("remedy", ""))]
        in_words = any(re.search(r"# |\b(or|newer)\b", text) for text in texts)
        assert in_words == ("remedy" in chinese[kind]), kind


#: reasons that no call names: they are chosen by what a text begins with, by the end of a name, by how it is packed
CHOSEN = set(
    "not_json utf16 packed_twice nsys_report gzip_cut_off zstandard_cut_off empty_cut_off empty_snapshot".split(" ")
)


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_reason_has_its_words(language: str) -> None:
    calls = [call for name in ("because", "_format", "Attempt") for call in calls_of(name)]
    said = file(language, "reasons.toml")["texts"].keys()
    assert said == {kind for call in calls for kind in constants(call, 0)} | CHOSEN


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_what_stores_say_has_its_words(language: str) -> None:
    shared = file(language, "reasons.toml")["shared"]
    troubles, advised = (set(shared[key]) - {"by", ""} for key in ("trouble_said", "advised"))
    assert troubles == set(get_args(ErrorKind))
    assert {each.split(".")[0] for each in advised} == {"any", FILES, *(store.name for store in (S3, Blobs, Google))}
    assert {each.split(".")[1] for each in advised} <= troubles


def test_advice_about_a_store_has_a_key() -> None:
    sent = StoreFailure("missing").as_error(Attempt("unreadable"), "s3").reason.values
    assert sent["advice_of"] == "s3.missing"
    assert "advice_of" not in StoreFailure("failed").as_error(Attempt("unreadable"), "s3").reason.values
    assert "advice_of" not in StoreFailure("missing", advice="Look").as_error(Attempt("unreadable"), "s3").reason.values


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_format_exists(language: str, area: str) -> None:
    text = (ROOM / language / area).read_text("utf-8")
    formats = set(re.findall(r"\{\w+:([^{}]*)\}", text))
    for how in formats:
        assert formatted(1, how, {"steps": 1}), how
    # these have words of English
    assert language == "en" or not [how for how in formats if "|" in how or how.startswith(("many ", "each "))]
