"""The command line: `torch-tb-profiler COMMAND`.

Belongs here: one light file per command, which declares arguments, and what they share; `work/` has what commands do.
Does not belong here: any analysis.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from io import TextIOWrapper
from pathlib import Path

from torch_tb_profiler.cli.errors import BAD_INPUT, CLOSED_PIPE, INTERRUPTED, OUR_FAULT, UserError
from torch_tb_profiler.cli.inputs import paths_read
from torch_tb_profiler.cli.parsers import command_parser, program_parser, with_orders
from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.cli.saying import tell
from torch_tb_profiler.defaults import ONE_BLAS_THREAD

#: any value: our own faults are shown with their traceback
DEBUG_VARIABLE = "TORCH_TB_PROFILER_DEBUG"

#: where output goes there is no room, or no more is allowed
_NO_ROOM = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code. Raises SystemExit where argparse says all: help, wrong usage."""
    words = sys.argv[1:] if argv is None else list(argv)
    _ask_for_one_thread()
    _open_what_is_closed()
    _print_all_texts()
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # who read the output has enough
        _drop_output()
        return CLOSED_PIPE
    except UserError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno not in _NO_ROOM:
            return _confess(error)
        _say(f"the output cannot be written: {error.strerror}")
        _drop_output()
        return BAD_INPUT
    except Exception as error:  # noqa: BLE001 - a crash must not read as a result
        return _confess(error)
    return code


def _run(words: Sequence[str]) -> int:
    if not words or words[0] not in COMMANDS:
        program_parser().parse_args(words)
        return BAD_INPUT  # not reached: without a command it refuses
    command = COMMANDS[words[0]].load()
    arguments = command_parser(command).parse_args(with_orders(words[1:]))
    if paths_read(arguments) and not sys.stdout.isatty():
        from torch_tb_profiler.cli.work.targets import refuse_stdout_of

        refuse_stdout_of(arguments)
    with _quiet() if arguments.quiet else nullcontext():
        return command.run(arguments) or 0


@contextmanager
def _quiet() -> Iterator[None]:
    """What is said beside results goes nowhere; what is wrong is said by `main`, behind this."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        yield


def _ask_for_one_thread() -> None:
    """Of OpenBLAS, before NumPy is loaded, unless the user wants more."""
    for name, value in ONE_BLAS_THREAD.items():
        os.environ.setdefault(name, value)


def _say(text: str) -> None:
    tell(f"torch-tb-profiler: {text}")


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


def _open_what_is_closed() -> None:
    """What goes to a closed stdout or stderr goes nowhere, a closed stdin is empty: the exit code is the usual one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # the lowest number that is free: no file that is opened later is taken for stdout by what a library prints
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until the end


def _drop_output() -> None:
    """Python flushes once more when it ends, which must not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _print_all_texts() -> None:
    """Names that the terminal's encoding lacks are no error; files and pipes get UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
