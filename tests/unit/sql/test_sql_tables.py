"""What is said of tables and columns, and how they are named."""

from __future__ import annotations

import pytest

from torch_tb_profiler.api import Profile, ProfileError, TraceProfile
from torch_tb_profiler.tables.sql.columns import RunTable, SqlColumn, SqlTable, SqlTexts
from torch_tb_profiler.tables.sql.connection import distinct_names, schema_names, split_name
from torch_tb_profiler.tables.sql.tables import RUN_TABLES, TABLES

EVERY_TABLE: list[SqlTable | RunTable] = [*TABLES, *RUN_TABLES]
EVERY = [(table.name, column) for table in EVERY_TABLE for column in table.columns]


@pytest.mark.parametrize(("table", "column"), EVERY, ids=lambda each: each if isinstance(each, str) else each.name)
def test_columns_are_described(table: str, column: SqlColumn) -> None:
    assert column.meaning.strip()
    if column.name.endswith("_ns"):
        assert column.unit == "ns"
    if column.type == "bool":
        assert not column.unit


def test_the_table_of_columns_is_what_tables_have(rank: TraceProfile) -> None:
    told: dict[str, list[str]] = {}
    for table, column in rank.sql("select table_name, column_name from columns"):
        told.setdefault(table, []).append(column)
    for table in TABLES:
        assert told[table.name] == list(rank.sql(f"select * from {table.name} limit 0").columns)
    for table in RUN_TABLES:
        assert ["run", "span", *told[table.name]] == list(rank.sql(f"select * from {table.name} limit 0").columns)


def test_definitions_are_comments(rank: TraceProfile) -> None:
    (comment,) = rank.sql(
        "select comment from duckdb_columns() where table_name = 'kernels' and column_name = 'exposed_ns'"
    )
    assert comment[0].startswith("of a kernel of communication")
    assert "(ns)" in comment[0]
    uncommented = rank.sql(
        "select table_name, column_name from duckdb_columns() where schema_name = 'main' and comment is null and "
        "not internal and database_name = 'memory' and table_name not in ('columns', 'traces')"
    )
    assert [*uncommented] == []


def test_every_table_of_the_catalog_is_there(rank: TraceProfile) -> None:
    names = {name for (name,) in rank.sql("show tables")}
    assert {table.name for table in EVERY_TABLE} <= names
    described = [row[0] for row in rank.sql("describe kernels")]
    assert described == [column.name for column in next(t for t in TABLES if t.name == "kernels").columns]


def test_traces_say_their_schemas(four_ranks: Profile) -> None:
    assert [*four_ranks.sql("select schema, worker from traces order by 1")] == [(f"rank{n}",) * 2 for n in range(4)]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select * from kernels", r"there are 4 traces: ask one \(rank0.kernels\) or all of them \(all_kernels\)"),
        ("select * from nothing", "there is no table nothing, only steps, operators"),
        ("select nothing from rank0.kernels", 'Referenced column "nothing" not found'),
        ("select now()", "times with a zone cannot be shown"),
    ],
)
def test_errors_are_sentences(four_ranks: Profile, statement: str, told: str) -> None:
    with pytest.raises(ProfileError, match=told) as raised:
        four_ranks.sql(statement)
    assert "Traceback" not in str(raised.value)


def test_names_of_schemas() -> None:
    traces = [
        *(("a", "rank-0", "1"), ("a", "rank.0", "2"), ("b", "Main", "1"), ("b", "7", "1"), ("b", "…", "1")),
        ("b", "___", "1"),
    ]
    found = schema_names(traces)
    assert found == ("a_rank_0_1", "a_rank_0_2", "b_main_1", "t7", "b_1", "b_1_2")
    assert distinct_names(["a", "a", "a_1", "b", "b"]) == ("a", "a_2", "a_1", "b", "b_1")
    assert split_name('a."b.""c".d') == ["a", 'b."c', "d"]


def test_hostile_texts() -> None:
    codes, texts = SqlTexts.of(["a\ud800", None, "", "x'; drop table y", "a\ud800"]).used()
    assert codes.tolist() == [1, 0, 0, 2, 1]
    assert texts == [None, "a?", "x'; drop table y"]


def test_a_connection_of_ones_own(rank: TraceProfile) -> None:
    """Nothing is locked, and other cursors see the tables."""
    with rank.connect(["kernels", "steps"]) as connection:
        (count,) = connection.cursor().execute("select count(*) from kernels").fetchone()
        assert count == int(rank.kernels().calls.sum())
        connection.execute("create table mine as select step, count(*) n from kernels group by 1")
        assert connection.execute("select sum(n) from mine").fetchone() == (count,)
    with pytest.raises(ProfileError, match="there is no table 'nothing', only steps"):
        rank.connect(["nothing"])


def test_rows_are_a_data_frame(rank: TraceProfile) -> None:
    pytest.importorskip("pandas")
    rows = rank.sql("select step, duration_ns, 1 as a, 2 as a from steps order by start_ns")
    frame = rows.to_pandas()
    assert list(frame.columns) == ["step", "duration_ns", "a", "a_1"]
    assert frame["duration_ns"].tolist() == rank.steps.duration_ns.tolist()
    assert len(rows) == len(frame) == len([*rows])
    assert rank.sql("select * from steps where false").to_pandas().empty


def test_without_duckdb_a_sentence_says_what_to_install(
    recorded_cnn: TraceProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(ProfileError, match=r"pip install 'torch-tb-profiler\[sql\]'"):
        recorded_cnn.connect()
