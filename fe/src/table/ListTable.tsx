/** A short table that a view fills itself. */
import type { ReactNode } from "react";
import { Wide } from "../ui";
import "./table.css";

interface Props {
  readonly caption: ReactNode;
  readonly columns: readonly string[];
  /** What each column means. */
  readonly help?: readonly string[];
  /** The columns before are texts, the others numbers. */
  readonly numbersFrom?: number;
  /** Its rows. */
  readonly children: ReactNode;
}

export function ListTable({ caption, columns, help, numbersFrom = 1, children }: Props) {
  return (
    <Wide className="simple-table">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((label, column) => (
              <th
                key={label}
                scope="col"
                className={column >= numbersFrom ? "number" : ""}
                title={help?.[column]}
              >
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Wide>
  );
}
