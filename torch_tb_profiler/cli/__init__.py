"""The command line: `torch-tb-profiler COMMAND`.

Belongs here: one file per command, which declares arguments and does the work, and what they share; `work/` has what is
imported only when a command runs. Does not belong here: any analysis.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from io import TextIOWrapper
from pathlib import Path

from torch_tb_profiler.cli.messages import (
    BAD_INPUT,
    CLOSED_PIPE,
    INTERRUPTED,
    OUR_FAULT,
    UserError,
    drop,
    drop_unwritten,
    lines_of,
    nearest,
    tell,
)
from torch_tb_profiler.cli.parsers import command_parser, paths_read, program_parser, with_orders
from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.defaults import ONE_BLAS_THREAD
from torch_tb_profiler.ending import ended_by_signals

#: any value: our own faults are shown with their traceback
DEBUG_VARIABLE = "TORCH_TB_PROFILER_DEBUG"

#: where output goes there is no room, or no more is allowed
_NO_ROOM = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO") if hasattr(errno, name)}
#: what the system has too few of
_SCARCE = {errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}

#: how an import, a thread and DuckDB fail without memory
_NO_ROOM_FOR = ("failed to map segment", "annot allocate memory", "can't start new thread", "Out of Memory Error")
#: how C code may fail without memory, and with a fault: it is memory where this share of the limit was reached
_MAY_BE_MEMORY, _NEAR_THE_LIMIT = (SystemError, SyntaxError), 0.95

_NO_MEMORY = (
    "there is not enough memory: end other programs, allow this one more (ulimit -v, the limit of a container), or ask "
    "for less (--steps, --worker)"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Raises SystemExit where argparse ends: help, wrong usage."""
    words = sys.argv[1:] if argv is None else list(argv)
    _ask_for_one_thread()
    is_closed = _open_what_is_closed()
    _print_all_texts()
    try:
        with ended_by_signals():
            try:
                return _run(words)
            finally:  # also after the help, which ends here
                sys.stdout.flush()
    except BrokenPipeError:
        # who read the output has enough
        drop(sys.stdout)
        return CLOSED_PIPE
    except UserError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        _say(_NO_MEMORY)
        return BAD_INPUT
    except OSError as error:
        if error.errno in _SCARCE:
            _say(f"the system has too little for this command: {error.strerror}")
            return BAD_INPUT
        is_closed = is_closed and error.errno == errno.EBADF
        if error.errno not in _NO_ROOM and not is_closed:
            return _confess(error)
        _say(f"the output cannot be written: {'stdout is closed' if is_closed else error.strerror}")
        drop(sys.stdout)
        return BAD_INPUT
    except Exception as error:  # noqa: BLE001 - a crash must not read as a result
        from torch_tb_profiler.reason import ErrorWithReason

        if isinstance(error, ErrorWithReason):
            _say(*lines_of(error))
            return BAD_INPUT
        if any(sign in str(error) for sign in _NO_ROOM_FOR) or (
            isinstance(error, _MAY_BE_MEMORY) and _has_reached_the_limit()
        ):
            _say(_NO_MEMORY)
            return BAD_INPUT
        return _confess(error)
    finally:
        drop_unwritten(sys.stderr)


def _run(words: Sequence[str]) -> int:
    name, rest = (words[0], words[1:]) if words else ("", [])
    if name not in COMMANDS:
        if not _is_path(name):
            program = program_parser()
            if not name or name.startswith("-"):
                program.parse_args(words)  # ends with the help, the version or an error
            program.error(f"there is no command and no file {name!r}{nearest(name, list(COMMANDS))}")
        name, rest = "summary", words
    command = COMMANDS[name].load()
    arguments = command_parser(command).parse_args(with_orders(rest))
    if paths_read(arguments) and not sys.stdout.isatty():
        from torch_tb_profiler.cli.work.targets import refuse_stdout_of

        refuse_stdout_of(arguments)
    with _quiet() if arguments.quiet else nullcontext():
        try:
            return command.run(arguments) or 0
        except MemoryError:
            from torch_tb_profiler.storage import shown

            named = ", ".join(map(shown, paths_read(arguments)))
            raise UserError(f"{named}: {_NO_MEMORY}" if named else _NO_MEMORY) from None


def _is_path(word: str) -> bool:
    """Return whether a word that is no command names something to read."""
    return bool(word) and not word.startswith("-") and ("://" in word or Path(word.partition("~")[0]).exists())


@contextmanager
def _quiet() -> Iterator[None]:
    """Drop messages beside results; `main` still prints what is wrong, outside of this."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        yield


def _ask_for_one_thread() -> None:
    """Limit OpenBLAS to one thread before NumPy is loaded, unless the user set a number."""
    for name, value in ONE_BLAS_THREAD.items():
        os.environ.setdefault(name, value)


def _say(text: str, *more: str) -> None:
    tell(f"torch-tb-profiler: {text}", *more)


def _confess(error: Exception) -> int:
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)
    else:
        _say(
            f"a fault of this program, not of yours ({type(error).__name__}: {error}). Please report it with what"
            f" `torch-tb-profiler doctor` prints; {DEBUG_VARIABLE}=1 shows where it happened"
        )
    return OUR_FAULT


def _has_reached_the_limit() -> bool:
    """Return whether this process has nearly used up its limit of address space; False where that is unknown."""
    try:
        import resource

        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        (peak,) = (int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmPeak:"))
    except (ModuleNotFoundError, OSError, ValueError):
        return False
    except (ImportError, MemoryError):  # there is not even room for this
        return True
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return limit != resource.RLIM_INFINITY and peak >= _NEAR_THE_LIMIT * limit


def _open_what_is_closed() -> bool:
    """Open closed standard streams, so that no later file gets their numbers; return whether stdout was closed.

    A closed stdin is empty, and what goes to a closed stderr goes nowhere. What goes to a closed stdout cannot be
    written, which must not look like success.
    """
    is_closed = sys.stdout is None
    for name, mode, flag in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), mode, encoding="utf-8"))
    return is_closed


def _print_all_texts() -> None:
    """Escape what the terminal's encoding lacks; files and pipes get UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
