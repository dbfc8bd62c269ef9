"""`torch-tb-profiler completion`: scripts generated from the parsers, so that completing starts no Python."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

from torch_tb_profiler.cli.parsers import PROGRAM, command_parser
from torch_tb_profiler.cli.registry import COMMANDS


class CompletionCommand:
    """Print the script that completes commands and options in a shell.

    For bash put `source <(torch-tb-profiler completion bash)` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc
    after compinit, and for fish `torch-tb-profiler completion fish | source` into ~/.config/fish/config.fish.
    """

    name = "completion"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.completion import script

        print(script(arguments.shell), end="")


class _Option(NamedTuple):
    """names, values that it may have, whether it takes one at all, and what it is."""

    names: Sequence[str]
    values: Sequence[str]
    takes: bool
    help: str


class _Command(NamedTuple):
    """name, its line of help, its options, and what its first argument may be."""

    name: str
    help: str
    options: Sequence[_Option]
    values: Sequence[str]


def script(shell: str) -> str:
    """Return the script for bash, zsh or fish."""
    commands = [_command(name) for name in COMMANDS]
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def _command(name: str) -> _Command:
    parser = command_parser(COMMANDS[name].load())
    actions = parser._actions  # noqa: SLF001 - no other way
    options = [_option(parser, each) for each in actions if each.option_strings]
    values = next((each.choices for each in actions if not each.option_strings and each.choices), ())
    return _Command(name, COMMANDS[name].help, options, [str(each) for each in values])


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> _Option:
    text = (action.help or "").replace("%%", "%")
    if "%(" in text:
        text = text % {**vars(action), "prog": parser.prog}
    return _Option(action.option_strings, [str(each) for each in action.choices or ()], action.nargs != 0, text)


# bash -------------------------------------------------------------------------------------------------------


def _bash(commands: Sequence[_Command]) -> str:
    names = " ".join(command.name for command in commands)
    words = "\n".join(
        f'    {command.name}) words="{" ".join([*_option_names(command), *command.values])}" ;;' for command in commands
    )
    with_value = sorted(
        {name for command in commands for option in command.options if option.takes for name in option.names}
    )
    choices = sorted(
        {
            (f"{command.name}:{name}", " ".join(option.values))
            for command in commands
            for option in command.options
            for name in option.names
            if option.values
        }
    )
    values = "\n".join(f'    {where}) words="{words_of_place}" ;;' for where, words_of_place in choices)
    return f"""\
# bash completion of {PROGRAM}
_torch_tb_profiler() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{names} --help --version" -- "$word"))
    return
  fi
  case "$command:$before" in
{values}
    *:{"|*:".join(with_value)}) COMPREPLY=($(compgen -f -- "$word")); return ;;
    *) case "$command" in
{words}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}}
complete -o filenames -F _torch_tb_profiler {PROGRAM}
"""


def _option_names(command: _Command) -> list[str]:
    return [name for option in command.options for name in option.names]


# zsh --------------------------------------------------------------------------------------------------------


def _zsh(commands: Sequence[_Command]) -> str:
    listed = "\n".join(f"    {_quoted(f'{each.name}:{each.help}')}" for each in commands)
    cases = "\n".join(_zsh_case(each) for each in commands)
    return f"""\
#compdef {PROGRAM}
_torch_tb_profiler() {{
  local -a commands
  commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
{cases}
  esac
}}
compdef _torch_tb_profiler {PROGRAM}
"""


def _zsh_case(command: _Command) -> str:
    lines = []
    for option in command.options:
        about = option.help.replace("[", "(").replace("]", ")").replace(":", " -")
        value = f":value:({' '.join(option.values)})" if option.values else ":value:_files" if option.takes else ""
        lines += [f"        {_quoted(f'{name}[{about}]{value}')}" for name in option.names]
    first = f":value:({' '.join(command.values)})" if command.values else ":path:_files"
    last = f"        {_quoted(f'*{first}')} ;;"
    return "\n".join([f"    {command.name})", "      _arguments \\", *(f"{line} \\" for line in lines), last])


# fish -------------------------------------------------------------------------------------------------------


def _fish(commands: Sequence[_Command]) -> str:
    lines = [f"# fish completion of {PROGRAM}"]
    for each in commands:
        lines.append(f"complete -c {PROGRAM} -n __fish_use_subcommand -a {each.name} -d {_quoted(each.help)}")
        where = _quoted(f"__fish_seen_subcommand_from {each.name}")
        lines += [f"complete -c {PROGRAM} -n {where} {_fish_option(option)}" for option in each.options]
        if each.values:
            lines.append(f"complete -c {PROGRAM} -n {where} -f -a {_quoted(' '.join(each.values))}")
    return "\n".join(lines) + "\n"


def _fish_option(option: _Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    values = f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r" if option.takes else ""
    return f"{names}{values} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    """Quote a text for each of the shells, so that nothing in it is interpreted."""
    return "'" + text.replace("\\", "\\\\").replace("'", "’") + "'"
