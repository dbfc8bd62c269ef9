"""The name that vLLM gives a step: how many requests it has, and sums over them."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern

VLLM_STEP = lazy_pattern(
    r"execute_(?:(?P<all>[0-9]{1,15})_)?context_(?P<c>[0-9]{1,15})\((?P<ct>[^)]*)\)_generation_(?P<g>[0-9]{1,15})\((?P<gt>[^)]*)\)$"
)
#: one of the sums of a part of the name
SUM = lazy_pattern(r"(sqsq|sqsk|sq|sk)([0-9]{1,15})")
#: Σ new tokens, Σ tokens that they see, Σ squares of the first, Σ products of both, of each request
_SUMS = ("sq", "sk", "sqsq", "sqsk")


class StepSums(msgspec.Struct, frozen=True):
    """Sums over the requests of a step.

    tokens   new ones that are computed
    keys     tokens that these see, those of the cache included
    pairs    of a new token and one that it sees
    """

    tokens: int
    keys: int
    pairs: int


def step_sums(name: str) -> StepSums | None:
    """Parse what the name of a step of vLLM says of its attention; None if it says nothing.

    >>> step_sums("execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk70sqsq2sqsk70)").pairs
    70
    """
    found = VLLM_STEP.match(name)
    parts = [] if found is None else [dict(SUM.findall(found[each])) for each in ("ct", "gt")]
    if not parts or any(len(each) < len(_SUMS) for each in parts):
        return None
    tokens, keys, squares, products = (sum(int(each[key]) for each in parts) for key in _SUMS)
    # a new token sees those before it, and of the new ones of its request half
    pairs = products - (squares - tokens) // 2
    return StepSums(tokens, keys, pairs) if tokens and pairs >= 0 else None
