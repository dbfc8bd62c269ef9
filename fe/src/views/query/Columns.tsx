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
                columns={words.columns.heads}
                numbersFrom={words.columns.heads.length}
              >
                {columns.map((column) => (
                  <tr key={column.name}>
                    <td>
                      <code>{column.name}</code>
                    </td>
                    <td>{column.unit}</td>
                    <td>{column.meaning}</td>
                    <td>{column.missing}</td>
                  </tr>
                ))}
              </ListTable>
            </details>
          ))}
        </>
      )}
    </Async>
  );
}
