"""A query reads its tables and nothing else, and costs no more than it may: every row of the list of attacks."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch_tb_profiler.api import TraceProfile
from torch_tb_profiler.tables.sql import QueryError, QueryLimits, QuerySession, StoredTrace
from torch_tb_profiler.tables.sql.connection import LONGEST_STATEMENT, connect
from torch_tb_profiler.tables.sql.database import Database, TraceSource

pytestmark = pytest.mark.slow

SECRET = "what nobody may read"


@pytest.fixture(scope="module")
def database(rank: TraceProfile) -> Iterator[Database]:
    found = Database([TraceSource("run", "rank0", "1", rank.ask)])
    yield found
    found.close()


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secret") / "secret.csv"
    path.write_text(f"a\n{SECRET}\n")
    return path


@pytest.fixture(scope="module")
def session(rank: TraceProfile) -> Iterator[QuerySession]:
    with QuerySession(rank.stored(), QueryLimits(rows=50, bytes=20_000, seconds=3)) as found:
        yield found


def kind(raised: pytest.ExceptionInfo[QueryError]) -> str:
    return raised.value.reason.kind


# what a query cannot reach ------------------------------------------------------------------------------------

FILES = (
    *("from read_csv('{file}')", "from read_text('{file}')", "from read_blob('{file}')", "from '{file}'"),
    *("from glob('{folder}/*')", "from read_parquet('{file}')", "from read_json('{file}')", "from sniff_csv('{file}')"),
    *("from query('select * from ''{file}''')", "from read_csv_auto('{file}')", "from parquet_metadata('{file}')"),
    *("from read_csv('https://127.0.0.1:9/x')", "from read_duckdb('{file}')"),
)
CHANGES = (
    *("copy (select 1) to '{folder}/new'", "attach '{folder}/new.db'", "install httpfs", "load httpfs"),
    *("export database '{folder}/new'", "set threads = 8", "reset memory_limit", "set memory_limit = '100GB'"),
    *(
        "create secret s (type s3)",
        "drop view kernels",
        "create table x as select 1",
        "create temp table x as select 1",
    ),
    *("create function f(x) as x", "prepare p as select 1", "pragma version", "call pragma_version()", "checkpoint"),
    *(
        "insert into columns values ('a','b','c','d','e','f','g')",
        "update columns set unit = 'x'",
        "delete from columns",
    ),
    *(
        "begin",
        "commit",
        "rollback",
        "use temp",
        "vacuum",
        "pivot kernels on kind using count(*)",
        "set variable a = 1",
    ),
    *(
        "explain analyze create temp table x as select 1",
        "explain analyze drop view kernels",
        "explain copy kernels to 'x'",
    ),
    *("/* a */ explain -- b\n analyze (format json) delete from columns", "explain explain select 1"),
    *(
        "with x as (insert into columns values ('a','b','c','d','e','f','g') returning *) select * from x",
        "detach memory",
    ),
    *("comment on view kernels is 'x'", "alter view kernels rename to x", "execute p", "deallocate p"),
)


@pytest.mark.parametrize("statement", FILES)
def test_no_file_and_no_network(database: Database, secret: Path, statement: str) -> None:
    with pytest.raises(QueryError) as raised:
        database.rows(f"select * {statement.format(file=secret, folder=secret.parent)}")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("statement", CHANGES)
def test_nothing_is_changed(database: Database, secret: Path, statement: str) -> None:
    before = sorted(secret.parent.iterdir())
    with pytest.raises(QueryError):
        database.rows(statement.format(file=secret, folder=secret.parent))
    assert sorted(secret.parent.iterdir()) == before
    assert [*database.rows("select count(*) > 100, current_setting('threads') from columns")] == [(True, 1)]
    assert len(database.rows("select * from kernels limit 3")) == 3


def test_variables_of_python_are_no_tables(database: Database) -> None:
    unseen = {"a": [SECRET]}
    for statement in ("select * from unseen", "select * from secret", "select * from pandas_scan(1)"):
        with pytest.raises(QueryError) as raised:
            database.rows(statement)
        assert SECRET not in str(raised.value)
    assert unseen


def test_the_environment_cannot_be_read(database: Database) -> None:
    with pytest.raises(QueryError, match="getenv"):
        database.rows("select getenv('HOME')")


@pytest.mark.parametrize("statement", ["", "  ", "-- nothing", "select 1; select 2", "select 1; drop view kernels"])
def test_one_statement(database: Database, statement: str) -> None:
    with pytest.raises(QueryError, match="statement") as raised:
        database.rows(statement)
    assert kind(raised) == "sql_statement"


@pytest.mark.parametrize("statement", ["select '\ud800'", "select '\0'", f"select '{'x' * LONGEST_STATEMENT}'"])
def test_statements_that_are_no_text(database: Database, statement: str) -> None:
    with pytest.raises(QueryError) as raised:
        database.rows(statement)
    assert kind(raised) == "sql_statement"


@pytest.mark.parametrize(
    "statement",
    [
        *("select 1;", "from steps", "values (1)", "table steps", "with a as (from steps) from a", "describe steps"),
        *("summarize steps", "explain select * from kernels", "EXPLAIN ANALYZE select count(*) from kernels"),
        *("/**/" * 24 + "--a\rexplain select 1", "/**/ /* * */ /***/ explain select 1"),
        *("explain (format json) select 1", "/* a */ -- b\n explain select 1", "from query('select 1')"),
    ],
)
def test_what_only_reads_is_taken(database: Database, statement: str) -> None:
    assert len(database.rows(statement))


def test_the_order_of_the_settings_closes_the_doors() -> None:
    connection = connect()
    told = {
        "enable_external_access": "false",
        "lock_configuration": "true",
        "temp_directory": "",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "threads": "1",
    }
    for name, value in told.items():
        (found,) = connection.execute("select value from duckdb_settings() where name = ?", [name]).fetchone()
        assert (found or "").lower() == value, name


# what a query may cost ----------------------------------------------------------------------------------------

LONG = (
    "select count(*) from range(10000000) a, range(10000000) b where (a.range * b.range) % 7 = 3",
    "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r",
)
LARGE = (
    "select max(x) from (select hash(range) x from range(2000000000) order by 1)",
    "select length(list(range)::varchar) from range(300000000)",
    "select length(string_agg(range::varchar, ',')) from range(300000000)",
    "select repeat('x', 1000000000) from range(20)",
    "select sum(length(repeat('x', 1000000000 + range))) from range(20)",
    "select max(repeat(repeat(name, 1000), 10000)) from kernels",
)


@pytest.mark.parametrize("statement", LONG)
def test_a_long_query_is_ended_and_the_tables_stay(session: QuerySession, statement: str) -> None:
    session.ask("select count(*) from kernels")
    process, began = session.process_id, time.monotonic()
    with pytest.raises(QueryError, match="longer than the 3 s") as raised:
        session.ask(statement)
    assert kind(raised) == "sql_time"
    assert time.monotonic() - began < 20
    assert session.ask("select count(*) from kernels").rows == [[881]]
    assert session.process_id == process


@pytest.mark.parametrize("statement", LARGE)
def test_a_large_query_is_ended(session: QuerySession, statement: str) -> None:
    with pytest.raises(QueryError) as raised:
        session.ask(statement)
    assert kind(raised) in ("sql_memory", "sql_time")
    assert session.ask("select count(*) from kernels").rows == [[881]]


def test_the_memory_of_the_process_is_bounded(session: QuerySession) -> None:
    """Peak of the resident memory of the process, after all attacks on it."""
    for statement in LARGE:
        with pytest.raises(QueryError):
            session.ask(statement)
    if not sys.platform.startswith("linux"):
        pytest.skip("the system does not say how much memory a process takes")
    session.ask("select 1")
    status = Path(f"/proc/{session.process_id}/status").read_text()
    peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    assert peak < 1_600 * 1024**2


def test_a_process_that_does_not_heed_the_interrupt_is_killed(rank: TraceProfile) -> None:
    limits = QueryLimits(seconds=2)
    with QuerySession(rank.stored(), limits) as session:
        session.ask("select 1")
        process = session.process_id
        assert process is not None
        os.kill(process, 19)  # SIGSTOP: it says nothing more
        began = time.monotonic()
        with pytest.raises(QueryError) as raised:
            QuerySession.ask(_impatient(session), "select count(*) from kernels")
        assert kind(raised) == "sql_time"
        assert time.monotonic() - began < 30
        assert not Path(f"/proc/{process}").exists()
        session.limits = limits
        assert session.ask("select count(*) from kernels").rows == [[881]]
        assert session.process_id != process


def _impatient(session: QuerySession) -> QuerySession:
    session.limits = QueryLimits(seconds=2, prepare_seconds=2)
    return session


def test_no_more_rows_and_bytes_than_may_be(session: QuerySession) -> None:
    found = session.ask("select row from events order by row")
    assert (len(found.rows), found.more) == (50, "rows")
    assert found.rows[0] == [0]
    long = session.ask("select repeat('x', 3000) from range(40)")
    assert (len(long.rows), long.more) == (6, "bytes")
    whole = session.ask("select * from range(50)")
    assert (len(whole.rows), whole.more) == (50, "")
    with pytest.raises(QueryError, match="a row is longer than the 20,000 bytes"):
        session.ask("select repeat('x', 30000)")


def test_values_that_json_does_not_have(session: QuerySession) -> None:
    found = session.ask(
        "select 9007199254740993, 'nan'::double, 'inf'::double, date '2024-01-02', interval 1 day, [1, null], "
        "{'a': 1.5::decimal(9, 2)}, 'ab'::blob, null, true"
    )
    assert found.rows == [
        ["9007199254740993", None, None, "2024-01-02", "1 day, 0:00:00", [1, None], {"a": 1.5}, "6162", None, True]
    ]


def test_sessions_end_their_processes(rank: TraceProfile) -> None:
    session = QuerySession(rank.stored())
    assert session.process_id is None
    session.ask("select 1")
    process = session.process_id
    session.close()
    assert session.process_id is None
    assert process is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_columns_that_are_gone_are_a_sentence(tmp_path: Path) -> None:
    with (
        QuerySession([StoredTrace("a", "b", "1", str(tmp_path / "gone.columns"))]) as session,
        pytest.raises(QueryError, match="the columns of the trace cannot be read"),
    ):
        session.ask("select 1")


def test_a_session_has_the_schemas_of_its_traces(four_ranks: object) -> None:
    stored = four_ranks.stored()  # type: ignore[attr-defined]
    with QuerySession(stored) as session:
        found = session.ask("select worker, count(*) n from all_kernels group by 1 order by 1")
        assert [row[0] for row in found.rows] == [f"rank{n}" for n in range(4)]
        assert session.ask("select count(*) from rank2.steps").rows == [[5]]


def test_the_limit_of_this_process_is_its_own() -> None:
    """Whatever was limited was limited in processes of sessions."""
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.getrlimit(resource.RLIMIT_AS)[1]
