"""The answer of the gate as JUnit XML: a rule is a test."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.analysis.change.judge import Judged
from torch_tb_profiler.cli.work.gate import words

#: what no XML 1.0 document may hold, however it is written
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: of a text
_LONGEST = 10_000

SUITE = "torch-tb-profiler check"


def as_junit(found: CheckAnswer) -> str:
    """A failed rule is a failure, one that cannot be judged an error, an inconclusive one is skipped.

    There is no time and no name of a machine: equal input is equal bytes.
    """
    failures = sum(_is_failure(each) for each in found.rules)
    errors = sum(_is_error(each) for each in found.rules)
    skipped = sum(_is_skipped(each) for each in found.rules)
    counts = f'tests="{len(found.rules)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={_attribute(SUITE)} {counts} time="0">',
        f'  <testsuite name={_attribute(SUITE)} {counts} skipped="{skipped}" time="0">',
        *(line for each in found.rules for line in _case(each, found)),
        f"    <system-out>{_text(_said(found))}</system-out>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(judged: Judged, found: CheckAnswer) -> list[str]:
    begin = f'    <testcase classname={_attribute(judged.rule.severity)} name={_attribute(judged.rule.text)} time="0"'
    if _is_failure(judged):
        message = f"{judged.rule.metric} {words.change(judged)}, limit {words.limit(judged)}"
        said = f"{message}.{words.because(found)}"
        return [
            f"{begin}>",
            f'      <failure message={_attribute(message)} type="regressed">{_text(said)}</failure>',
            "    </testcase>",
        ]
    if _is_error(judged):
        reason = judged.reason or ""
        body = f'<error message={_attribute(reason)} type="unknown">{_text(reason)}</error>'
        return [f"{begin}>", f"      {body}", "    </testcase>"]
    if _is_skipped(judged):
        if judged.verdict == "inconclusive":
            message = words.undecided(judged)
        else:
            message = judged.reason or f"warning: {judged.rule.metric} {words.change(judged)}"
        return [f"{begin}>", f"      <skipped message={_attribute(message)}/>", "    </testcase>"]
    return [f"{begin}/>"]


def _is_failure(judged: Judged) -> bool:
    return judged.verdict == "regressed" and judged.rule.severity == "fail"


def _is_error(judged: Judged) -> bool:
    return judged.verdict == "unknown" and judged.rule.severity == "fail"


def _is_skipped(judged: Judged) -> bool:
    return judged.verdict not in ("unchanged", "improved") and not _is_failure(judged) and not _is_error(judged)


def _said(found: CheckAnswer) -> str:
    moved = [words.moved(each) for each in found.moved]
    return "\n".join([words.headline(found), *(f"  {each}" for each in moved)])


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", words.shown(text, _LONGEST)))


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))
