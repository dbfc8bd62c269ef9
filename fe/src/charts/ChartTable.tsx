/** The numbers of a picture as a table. */
import { chartsTexts } from "../i18n";
import "./charts.css";

export interface ChartRow {
  readonly cells: readonly string[];
  readonly onPick?: (() => void) | undefined;
}

export interface ChartTableProps {
  readonly title: string;
  readonly head: readonly string[];
  /** How many of the first columns are text; the others are numbers. */
  readonly texts: number;
  readonly rows: readonly ChartRow[] | (() => readonly ChartRow[]);
}

export function ChartTable({ title, head, texts, rows }: ChartTableProps) {
  return (
    // A region that scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className="chart-table" tabIndex={0} aria-label={chartsTexts.tableOf(title)}>
      <table>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            {head.map((text, i) => (
              <th key={text} scope="col" className={i < texts ? "" : "number"}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(typeof rows === "function" ? rows() : rows).map(
            ({ cells: [name = "", ...others], onPick }, r) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
              <tr key={r}>
                <th scope="row">
                  {onPick ? (
                    <button type="button" className="link" onClick={onPick}>
                      {name}
                    </button>
                  ) : (
                    name
                  )}
                </th>
                {others.map((text, c) => (
                  <td key={head[c + 1]} className={c + 1 < texts ? "" : "number"}>
                    {text}
                  </td>
                ))}
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  );
}
