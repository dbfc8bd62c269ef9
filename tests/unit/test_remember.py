"""What is remembered is made once; nobody waits but those who want the same."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.tiny import DEADLINE_SECONDS, wait_until
from torch_tb_profiler.workspace.answering.value_cache import ValueCache


class Making:
    """A value in the making, until it may be finished."""

    def __init__(self, outcome: Callable[[], str]) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.times = 0
        self._outcome = outcome

    def __call__(self) -> str:
        self.times += 1
        self.began.set()
        assert self.may_end.wait(DEADLINE_SECONDS)
        return self._outcome()


def remembering(memory: ValueCache[str, str], key: str, make: Callable[[], str]) -> tuple[threading.Thread, list[str]]:
    found: list[str] = []

    def remember() -> None:
        try:
            found.append(memory.remember(key, make))
        except ValueError as error:
            found.append(str(error))

    thread = threading.Thread(target=remember, daemon=True)
    thread.start()
    return thread, found


@pytest.fixture
def memory() -> ValueCache[str, str]:
    return ValueCache(100, len)


def waiting(memory: ValueCache[str, str], key: str) -> int:
    making = memory._making.get(key)
    return making.users if making else 0


def test_one_thread_makes_it_and_others_of_the_same_key_wait(memory: ValueCache[str, str]) -> None:
    making = Making(lambda: "value")
    threads = [remembering(memory, "a", making) for _ in range(3)]
    assert making.began.wait(DEADLINE_SECONDS)
    wait_until(lambda: waiting(memory, "a") == 3, "all three have come")
    # another key has nothing to do with it
    assert memory.remember("b", lambda: "other") == "other"
    making.may_end.set()
    for thread, found in threads:
        thread.join(DEADLINE_SECONDS)
        assert found == ["value"]
    assert making.times == 1
    assert memory._making == {}


def test_what_could_not_be_made_is_made_by_the_next(memory: ValueCache[str, str]) -> None:
    def fail() -> str:
        raise ValueError("not now")

    making = Making(fail)
    first, error = remembering(memory, "a", making)
    assert making.began.wait(DEADLINE_SECONDS)
    second, found = remembering(memory, "a", lambda: "value")
    wait_until(lambda: waiting(memory, "a") == 2, "the second waits")
    making.may_end.set()
    for thread in (first, second):
        thread.join(DEADLINE_SECONDS)
    assert (error, found) == (["not now"], ["value"])
    assert memory.get("a") == "value"
    assert memory._making == {}


def test_what_is_dropped_while_it_is_made_is_not_kept(memory: ValueCache[str, str]) -> None:
    making = Making(lambda: "of a trace that is gone")
    thread, found = remembering(memory, "a", making)
    assert making.began.wait(DEADLINE_SECONDS)
    memory.drop(lambda key: key == "a")
    making.may_end.set()
    thread.join(DEADLINE_SECONDS)
    assert found == ["of a trace that is gone"]
    assert memory.get("a") is None
    assert memory.remember("a", lambda: "new") == "new"
    assert memory.get("a") == "new"


def test_values_may_be_made_of_others(memory: ValueCache[str, str]) -> None:
    assert memory.remember("a", lambda: memory.remember("b", lambda: "b") + "a") == "ba"
    assert memory.get("b") == "b"


def test_it_holds_no_more_than_its_capacity(memory: ValueCache[str, str]) -> None:
    for key in "abc":
        memory.remember(key, lambda: "x" * 50)
    assert [memory.get(key) is not None for key in "abc"] == [False, True, True]
