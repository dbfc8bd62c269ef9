"""What to do about what a trace shows: one rule, one file.

A rule declares its id and what it needs, and turns the numbers of `analysis` into at most one `Finding`: trigger,
evidence, estimate of what it would save, advice, links. Adding a rule is adding a file and its line in `RULES`.

What does not belong here: computing numbers (`analysis`) and markup (`web`).
"""

from torch_tb_profiler.insights.findings import Diagnosis, diagnosis, findings
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.insights.rules import RULES

__all__ = ["RULES", "Diagnosis", "Evidence", "Finding", "Link", "Rule", "diagnosis", "findings"]
