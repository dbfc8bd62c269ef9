/** What queries can name: tables, each with its columns and what they mean. */
import type { Result } from "../../api";
import type { Answers } from "../../api/schema.gen";
import { query as words } from "../../i18n/en/query";
import { ListTable } from "../../table";
import { Async } from "../../ui";

export function Columns({ query }: { readonly query: Result<Answers["sql/tables"]> }) {
  return (
    <Async query={query}>
      {({ tables, schemas }) => (
        <>
          {schemas.length > 1 && <p>{words.columns.schemas(schemas.join(", "))}</p>}
          {tables.map(({ name, meaning, columns }) => (
            <details key={name} className="query-table">
              <summary>
                <code>{name}</code> <span>{meaning}</span>
              </summary>
              <ListTable
                caption={<span className="visually-hidden">{name}</span>}
                heads={words.columns.heads}
                rows={columns}
                columns={[
                  { cell: (column) => <code>{column.name}</code> },
                  { kind: "text", cell: ({ unit }) => unit },
                  { kind: "text", cell: (column) => column.meaning },
                  { kind: "text", cell: ({ missing }) => missing },
                ]}
              />
            </details>
          ))}
        </>
      )}
    </Async>
  );
}
