"""How commands end on a signal: what they have begun is cleaned up, as after Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], None]

#: seconds in which a command ends after a signal, whatever holds it
END_SECONDS = 15

#: SIGHUP: the terminal was closed; Windows has none
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def ended_by_signals(handler: Handler | None = None, with_ctrl_c: bool = False) -> Iterator[None]:
    """End what runs inside in order on a signal. A signal that is ignored (`nohup`) stays ignored.

    handler      by default, SystemExit is raised with the exit code of a shell, 128 + signal; a second signal ends the
                 process at once
    with_ctrl_c  the handler also takes SIGINT, in place of KeyboardInterrupt
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # which cannot have handlers
        return
    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        _end(number)

    before = {number: signal.getsignal(number) for number in (*_SIGNALS, *([signal.SIGINT] if with_ctrl_c else []))}
    heard = {number for number, known in before.items() if known is not signal.SIG_IGN}
    for number in heard:
        signal.signal(number, handler or end)
    try:
        yield
    except KeyboardInterrupt:
        if received:  # SystemExit was lost in an extension
            sys.exit(128 + received[0])
        raise
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _end(number: int) -> NoReturn:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(END_SECONDS)
    sys.exit(128 + number)
