"""The rules and options of `check`: from the command line, else a TOML file, else the defaults."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from torch_tb_profiler.analysis.change.metrics import GateRule, RuleError, Severity, default_rules, parse_rule
from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.codec import convert
from torch_tb_profiler.toml_text import TomlError, toml_of

#: files that are read from the working directory, and their tables of rules
PROJECT, PROJECT_TABLES = "pyproject.toml", ("tool", "torch-tb-profiler", "check")
OWN, OWN_TABLES = "torch-tb-profiler.toml", ("check",)
FILES = (PROJECT, OWN)


class _RulesTable(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    fail_on: list[str] | None = None
    warn_on: list[str] | None = None


class _SettingsFile(_RulesTable, rename="kebab", forbid_unknown_fields=True):
    strict: bool = False
    across_devices: bool = False
    runs: dict[str, _RulesTable] = {}


class GateSettings(msgspec.Struct, frozen=True):
    """Rules by severity, from each source; None if nothing was given.

    own      of the command line
    of_runs  of the file, by the pattern of names of runs, in order
    of_file  of the file, for all other runs
    """

    own: Mapping[Severity, list[GateRule] | None]
    of_runs: Mapping[str, Mapping[Severity, list[GateRule] | None]]
    of_file: Mapping[Severity, list[GateRule] | None]
    strict: bool
    across_devices: bool


def settings_of(arguments: argparse.Namespace) -> GateSettings:
    """Read the settings. Raises UserError: a file or a rule is invalid."""
    file, where = _settings_file(arguments.config)
    return GateSettings(
        own=_parsed(_RulesTable(arguments.fail_on, arguments.warn_on), ""),
        of_runs={name: _parsed(each, f"{where}: ") for name, each in file.runs.items()},
        of_file=_parsed(file, f"{where}: "),
        strict=arguments.strict or file.strict,
        across_devices=arguments.across_devices or file.across_devices,
    )


def rules_of(settings: GateSettings, runs: Sequence[str]) -> list[GateRule]:
    """Return the rules for these runs: of the command line, else of the first matching pattern, else of the file."""
    matching = next(
        (each for name, each in settings.of_runs.items() if all(fnmatchcase(run, name) for run in runs)), {}
    )
    rules_found: list[GateRule] = []
    severities: tuple[Severity, ...] = ("fail", "warn")
    for severity in severities:
        sources = (settings.own, matching, settings.of_file)
        usual = [rule for rule in default_rules() if rule.severity == severity]
        rules_found += next((rules for each in sources if (rules := each.get(severity)) is not None), usual)
    return rules_found


def _parsed(table: _RulesTable, where: str) -> Mapping[Severity, list[GateRule] | None]:
    try:
        return {
            "fail": None if table.fail_on is None else [parse_rule(text, "fail") for text in table.fail_on],
            "warn": None if table.warn_on is None else [parse_rule(text, "warn") for text in table.warn_on],
        }
    except RuleError as error:
        raise UserError(f"{where}{error}") from None


def _settings_file(named: str | None) -> tuple[_SettingsFile, str]:
    """Return the settings of the first file with the table, and its name."""
    if named is not None:
        path = Path(named)
        tables = PROJECT_TABLES if path.name == PROJECT else OWN_TABLES
        found = _table(path, tables)
        if found is None:
            raise UserError(f"{named} has no table [{'.'.join(tables)}]")
        return found, named
    for name in FILES:
        tables = PROJECT_TABLES if name == PROJECT else OWN_TABLES
        if Path(name).is_file() and (found := _table(Path(name), tables)) is not None:
            return found, name
    return _SettingsFile(), ""


def _table(path: Path, tables: Sequence[str]) -> _SettingsFile | None:
    try:
        table: Any = toml_of(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except (TomlError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}") from None
    for name in tables:
        if name not in table:
            return None
        table = table[name]
        if not isinstance(table, dict):
            raise UserError(f"{path}: {name} is not a table")
    try:
        return convert(table, _SettingsFile)
    except msgspec.ValidationError as error:
        raise UserError(f"{path}: [{'.'.join(tables)}]: {error}") from None
