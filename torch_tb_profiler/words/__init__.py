"""What the product says, as data: `en/` and `zh-CN/`, the same files with the same sections.

A section has the sentences of one rule, note or refusal. A sentence names values in braces, with a format where one
is needed: `{share:%}`, `{spent_ns:time}`, `{calls:often}`, `{kernels:kernel|kernels}`; `{{` and `}}` are braces. A
table in place of a sentence is a choice by the value that its `by` names: its text, `yes` or `no` of a condition,
nothing (`""`) of what is absent; `other` is for all the rest. A name in braces that is no value is another sentence
of the section, or of `[shared]` in the same file: a part that several sentences have, or a clause with a choice of
its own.

The page reads `zh-CN`, filled by `fe/src/i18n/zh-CN/server/say.ts`; `tests/cases/words.json` has what both must say.
"""

from __future__ import annotations

from torch_tb_profiler.words.sentences import Section, Sentence, Values, section

__all__ = ["Section", "Sentence", "Values", "section"]
