/** What a query found, or why it found nothing. */
import { AnswerTable } from "../../answers/AnswerTable";
import type { Result as Answer } from "../../api";
import type { Answers } from "../../api/schema.gen";
import { count, duration } from "../../format";
import { query as words } from "../../i18n/en/query";
import { asDeclared, type Table } from "../../table";
import { Async } from "../../ui";
import { params } from "./params";

type Found = Answers["sql"];
/** What is wrong with a statement is no fault of the program. */
const REFUSED = 400;

export function Result({ found }: { readonly found: Answer<Found> }) {
  if (found.error?.status === REFUSED && !found.isFetching) {
    return (
      <pre className="query-error" role="alert">
        {found.error.message}
      </pre>
    );
  }
  return <Async query={found}>{(data) => <Rows found={data} />}</Async>;
}

/** `total_ns` in a column of microseconds is a total: the unit that is shown stands beside it. */
export function withUnits(table: Table): Table {
  const columns = table.columns.map((column) =>
    column.unit === "ns" || column.unit === "bytes"
      ? { ...column, label: column.label.replace(/_(?:ns|bytes)$/, "") || column.label }
      : column,
  );
  return { ...table, columns };
}

const shownTable = (found: Table) => withUnits(asDeclared(found));

function Rows({ found }: { readonly found: Found }) {
  const { more, prepared_ns: prepared, query_ns: took } = found.meta;
  const rows = Object.values(found.rows)[0]?.length ?? 0;
  return (
    <>
      <p className="query-said" role="status">
        {words.found(count(rows), duration(took), duration(prepared))}
        {more !== "" && <strong> {words.more[more]}</strong>}
      </p>
      <AnswerTable
        id="query"
        label={words.result}
        answer={found}
        shape={shownTable}
        nameKey={found.columns.find(({ type }) => type === "string")?.key ?? ""}
        filter={params.filter}
        sort={params.sort}
      />
    </>
  );
}
