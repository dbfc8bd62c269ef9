"""Results of analyses: parallel columns and the facts beside them, each declared once.

    class ApiCalls(Result, group="api_calls"):
        calls: Int64 = column("Calls", "How often it was called.")

A column's annotation gives its type, the end of its name its unit; columns stand in the order of their declarations.
JSON, the OpenAPI document, commands, agents, SQL, data frames, notebooks, the page, the report, translations and the
tables of docs/views read `Result.columns`. Figures of a struct that is answered as it is are declared in annotations,
see `definitions_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import get_annotations
from typing import Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from torch_tb_profiler.analysis.answer import ColumnType, Definition, InlineTable, Unit, field_texts, plain
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.analysis.tabular import WHOLE, PageMeta, Table, TableMeta, Tabular, table_text
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note
from torch_tb_profiler.trace.lazy_columns import FieldDeclaration, LazyColumns, dataclass_transform

#: the unit that the end of a name says; numbers of other names are counts
_UNITS: tuple[tuple[str, Unit], ...] = (
    ("_ns", "ns"),
    ("bytes", "bytes"),
    ("share", "fraction"),
    ("flop_rate", "flop_per_second"),
    ("byte_rate", "bytes_per_second"),
)

R = TypeVar("R", bound="Result")

#: in annotations of columns of numbers
_NUMBERS = lazy_pattern(r"\b(?:U?Int\d+|Float\d+|int|float)\b")


def column(
    label: str,
    text: str = "",
    *,
    unit: Unit | UnsetType | None = UNSET,
    total: bool = False,
    average: bool = False,
    hidden: bool = False,
    missing_below_zero: bool = False,
    api_only: bool = False,
    id: str = "",  # noqa: A002 - as `Definition` calls it
) -> Any:
    """Declare a column; its annotation is its type.

    label               what a page calls it
    text                definition and formula; of a field of a struct, the docstring has it where it is left out
    unit                of numbers, where the end of the name does not say it; None for numbers without
    total               shares of its sum make sense
    average             it makes sense divided by `calls`
    hidden              tables of people and agents leave it out until it is asked for
    missing_below_zero  an integer below zero says that the trace does not tell
    api_only            it is not sent: only the Python API has it
    id                  of label and text in translations, where it is not the group and the name
    """
    return FieldDeclaration(
        {
            "column": True,
            "label": label,
            "text": text,
            "unit": unit,
            "total": total,
            "average": average,
            "hidden": hidden,
            "missing_below_zero": missing_below_zero,
            "api_only": api_only,
            "id": id,
        }
    )


def column_of(result: type[Result], name: str, **changed: Any) -> Any:
    """Declare a column as another result declares it, translations included; changed: arguments of `column`."""
    return FieldDeclaration({**result.declared[name], "id": result.definitions[name].id, **changed})


def fact(text: str = "", label: str = "", unit: Unit | UnsetType | None = UNSET) -> Any:
    """Declare a value beside the rows; its annotation is its type.

    text   what it is
    label  what a page calls it, if it has a definition, with `unit`
    """
    return FieldDeclaration(
        {"column": False, "label": label, "text": text, "unit": unit, "hidden": False, "api_only": False, "id": ""}
    )


@dataclass_transform(frozen_default=True, field_specifiers=(column, column_of, fact))
class Result(Tabular, LazyColumns):
    """Parallel columns, and facts. A subclass declares them, and is made of their values by name.

    A column that is None is not in this trace.
    """

    #: of each column by name, in order
    columns: ClassVar[Mapping[str, Definition]] = {}
    #: those of the columns and of the facts that have a label
    definitions: ClassVar[Mapping[str, Definition]] = {}
    #: what each fact is
    facts: ClassVar[Mapping[str, str]] = {}
    #: what ids of its columns begin with; empty if they are not translated
    id_prefix: ClassVar[str] = ""

    def __init_subclass__(cls, group: str = "") -> None:
        """Read the declarations."""
        super().__init_subclass__()
        cls.id_prefix = group
        written = {name: str(hint) for kind in cls.__mro__ for name, hint in get_annotations(kind).items()}
        declared = cls.declared
        cls.definitions = {
            name: _definition(group, name, written[name], known) for name, known in declared.items() if known["label"]
        }
        cls.columns = {name: each for name, each in cls.definitions.items() if declared[name]["column"]}
        cls.defined = cls.columns
        cls.facts = {name: known["text"] for name, known in declared.items() if not known["column"]}
        cls.missing_below_zero = tuple(name for name in cls.columns if declared[name]["missing_below_zero"])

    def __len__(self) -> int:
        return len(next(iter(self.to_columns().values())))

    def __repr__(self) -> str:
        return table_text(self.as_grid())

    def to_columns(self) -> dict[str, Any]:
        """Return the columns that this trace has, by name: arrays, and sequences of plain values."""
        return {name: values for name in self.columns if (values := getattr(self, name)) is not None}

    def table(
        self,
        meta: TableMeta | PageMeta,
        *,
        without: Sequence[str] = (),
        totals: Mapping[str, int | None] | None = None,
        whole: int = WHOLE,
    ) -> Table[Any]:
        """Return the columns that this trace has, as an answer.

        meta     what stands beside it
        without  columns that are not sent
        totals   what shares of columns refer to, where it is not the sum of the column
        whole    with more rows than this it is sent in pages
        """
        values = self._sent(without)
        sums = {name: int(values[name].sum()) for name in values if self.declared[name]["total"]}
        return Table(
            meta,
            [self.columns[name] for name in values],
            values,
            sums | dict(totals or {}),
            tuple(name for name in values if self.declared[name]["average"]),
            whole,
            self._below_zero(values),
        )

    def as_columns(self, *, without: Sequence[str] = (), nulls: bool = True, most: int | None = None) -> InlineTable:
        """Return the columns that this trace has as lists, for an answer.

        without  columns that are not sent
        nulls    whether integers that are missing are null; else they are below zero
        most     rows at most
        """
        sent = {name: values[:most] for name, values in self._sent(without).items()}
        rows = {name: plain(values) for name, values in sent.items()}
        for key in self._below_zero(sent) if nulls else ():
            rows[key] = [None if value < 0 else value for value in rows[key]]
        return InlineTable(columns=[self.columns[name] for name in sent], rows=rows)

    def replace(self: R, **values: Any) -> R:
        """Return a copy with other values of some columns and facts."""
        return type(self)(**{**{name: getattr(self, name) for name in self.declared}, **values})

    def answer(self, about: Mapping[str, Any]) -> Table[Any]:
        """Return the table with its facts. about: the fields of `TraceMeta`."""
        return self.table(self.meta_type()(**about, **{name: getattr(self, name) for name in self.facts}))

    def _sent(self, without: Sequence[str]) -> dict[str, Any]:
        return {
            name: values
            for name, values in self.to_columns().items()
            if name not in without and not self.declared[name]["api_only"]
        }

    def _below_zero(self, values: Mapping[str, Any]) -> list[str]:
        return [key for key in self.missing_below_zero if key in values and (values[key] < 0).any()]

    @classmethod
    def meta_type(cls) -> type[TableMeta]:
        """Return the type of the metadata of a page: `TableMeta` and the facts."""
        if not cls.facts:
            return TableMeta
        known = _META_TYPES.get(cls)
        if known is None:
            known = _META_TYPES[cls] = _meta_type(cls)
        return known


_META_TYPES: dict[type[Result], type[TableMeta]] = {}


def _meta_type(result: type[Result]) -> type[TableMeta]:
    hints = get_type_hints(result, include_extras=True)
    name = "".join(word.capitalize() for word in result.id_prefix.split("_"))
    texts = "\n".join(f"{fact}  {text}" for fact, text in result.facts.items())
    made = msgspec.defstruct(
        f"{name}Meta",
        [(fact, hints[fact]) for fact in result.facts],
        bases=(TableMeta,),
        namespace={"__doc__": f"Beside a table of {result.id_prefix.replace('_', ' ')}.\n\n{texts}"},
        module=result.__module__,
        frozen=True,
        kw_only=True,
    )
    return cast("type[TableMeta]", made)


def _definition(group: str, name: str, annotation: str, known: Mapping[str, Any]) -> Definition:
    kind: ColumnType = "number" if _NUMBERS.search(annotation) else "bool" if "ool" in annotation else "string"
    unit = known["unit"]
    if unit is UNSET:
        unit = next((unit for end, unit in _UNITS if name.endswith(end)), "count") if kind == "number" else None
    # pages have words of their own for facts
    is_translated = group and known["column"] and not known["api_only"]
    id_ = known["id"] or (f"{group}.{name}" if is_translated else "")
    return Definition(name, known["label"], kind, unit, known["text"], id_, known["hidden"] or UNSET)


def definitions_of(struct: type[msgspec.Struct], group: str, prefix: str = "") -> dict[str, Definition]:
    """Collect the definitions of fields annotated as `busy: Annotated[float | None, column("Device busy", "…")]`.

    Where an annotation has no text, the docstring says what the field is.

    group   what their ids begin with; an annotation may also be the definition of another group
    prefix  what their keys begin with
    """

    def defined(name: str, hint: Any, known: Mapping[str, Any]) -> Definition:
        text = known["text"] or field_texts(struct)[name] + "."
        text = text[0].upper() + text[1:]
        return _definition(group, prefix + name, str(hint.__origin__), {**known, "text": text})

    return {
        prefix + name: defined(name, hint, told.known) if isinstance(told, FieldDeclaration) else told
        for name, hint in get_type_hints(struct, include_extras=True).items()
        for told in getattr(hint, "__metadata__", ())
        if isinstance(told, FieldDeclaration | Definition)
    }


#: rows that are structs, by what the ids of their columns begin with
ROWS: dict[str, type[msgspec.Struct]] = {}


def columns_field(group: str, row: type[msgspec.Struct]) -> Any:
    """Declare the field of an answer that says what the columns of its rows are."""
    ROWS[group] = row
    return msgspec.field(default_factory=cache(lambda: tuple(definitions_of(row, group).values())))


def meta_of(answer: Any) -> Any:
    """Return the type of the metadata of an answer that is a table; None for others."""
    if isinstance(answer, type) and issubclass(answer, Result):
        return answer.meta_type()
    return get_args(answer)[0] if get_origin(answer) is Table else None


def no_notes(_: Model, __: Result) -> Sequence[Note]:
    """Return no notes."""
    return ()


def result_question(
    name: str,
    summary: str,
    compute: Callable[..., R],
    *,
    answer: type[R],
    view: str = "",
    parameters: type[msgspec.Struct] = NoParameters,
    notes: Callable[[Model, R], Sequence[Note]] = no_notes,
    precompute: Sequence[msgspec.Struct] = (),
    report: Sequence[Mapping[str, str]] = (),
) -> Question:
    """Make the question that a result answers.

    compute  the result of a model, given the values of the parameters in order
    view     whose notes are sent with it, where it is not the name
    notes    what a person should know of this result
    The others: see `Question`.
    """

    def answered(subject: Subject, params: msgspec.Struct) -> Table[Any]:
        result = compute(subject.model, *msgspec.structs.astuple(params))
        return result.answer(subject.about(view or name, *notes(subject.model, result)))

    return Question(
        name=name,
        summary=summary,
        answer=answer,
        parameters=parameters,
        compute=answered,
        precompute=precompute,
        report=report,
    )
