/** The numbers of a picture as a table. */
import { chartsTexts } from "../i18n";
import { Each, Link } from "../ui";
import "./charts.css";

export interface ChartRow {
  readonly cells: readonly string[];
  readonly onPick?: (() => void) | undefined;
}

interface ChartTableProps {
  readonly title: string;
  readonly head: readonly string[];
  /** How many of the first columns are text; the others are numbers. */
  readonly texts: number;
  readonly rows: readonly ChartRow[] | (() => readonly ChartRow[]);
}

/** More would keep the page busy for seconds. */
const MOST_ROWS = 2000;

export function ChartTable({ title, head, texts, rows }: ChartTableProps) {
  const all = typeof rows === "function" ? rows() : rows;
  const left = all.length - MOST_ROWS;
  return (
    // A region that scrolls must be reachable by keyboard.
    <section className="chart-table" tabIndex={0} aria-label={chartsTexts.tableOf(title)}>
      <table>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            {head.map((text, i) => (
              <th key={text} scope="col" className={i < texts ? "" : "chart-number"}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Each of={all.slice(0, MOST_ROWS)}>
            {({ cells: [name = "", ...others], onPick }) => (
              <tr>
                <th scope="row">{onPick ? <Link onClick={onPick}>{name}</Link> : name}</th>
                {others.map((text, c) => (
                  <td key={head[c + 1]} className={c + 1 < texts ? "" : "chart-number"}>
                    {text}
                  </td>
                ))}
              </tr>
            )}
          </Each>
        </tbody>
      </table>
      {left > 0 && <p className="chart-note">{chartsTexts.andMore(left)}</p>}
    </section>
  );
}
