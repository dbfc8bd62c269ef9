"""`torch-tb-profiler completion`."""

from __future__ import annotations

import argparse


class Completion:
    """Print the script that completes commands and options in a shell.

    For bash put `source <(torch-tb-profiler completion bash)` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc
    after compinit, and for fish `torch-tb-profiler completion fish | source` into ~/.config/fish/config.fish.
    """

    name = "completion"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.completions import script

        print(script(arguments.shell), end="")
