import { type ReactNode, useCallback, useMemo } from "react";
import { type TooltipContent, useBoxWidth } from "../draw";
import { type Unit, value } from "../format";
import { Chart } from "./Chart";
import type { ChartRow } from "./ChartTable";
import { type HeatData, type HeatGrid, heatGrid } from "./heat";
import type { SceneTheme } from "./scene";
import { heatHeight, heatPicture, MOST_ROWS, plotWidth } from "./scenes/heat";

/** Of the table: more cannot be read. */
const MOST_COLUMNS = 60;

interface Props extends HeatData {
  readonly title: string;
  /** What a person who does not see the picture should know: the least and the largest value. */
  readonly summary: (least: string, highest: string) => string;
  readonly keys: string;
  readonly unit: Unit;
  /** By row of the data. */
  readonly rowNames: readonly string[];
  readonly columnNames: readonly string[];
  readonly rowLabel: string;
  readonly columnLabel: string;
  /** The chosen row and column of the data, -1 for none. */
  readonly row: number;
  readonly column: number;
  readonly tip: (row: number, column: number) => TooltipContent;
  readonly onPick: (row: number, column: number) => void;
  /** How many rows and columns share a cell. */
  readonly merged: (rows: number, columns: number) => string;
  /** Below the picture. */
  readonly children: ReactNode;
}

/** Rows × columns of numbers. Arrays must keep their identity while they mean the same. */
export function HeatMap(props: Props) {
  const { values, columns, order, outliers, middle, spread, unit, rowNames, columnNames } = props;
  const { rowLabel, columnLabel, row, column, tip, onPick } = props;
  const { box, width } = useBoxWidth();
  const data = useMemo(
    () => ({ values, columns, order, outliers, middle, spread }),
    [values, columns, order, outliers, middle, spread],
  );
  const grid = useMemo(() => heatGrid(data, MOST_ROWS, plotWidth(width)), [data, width]);
  const names = useMemo(() => order.map((each) => rowNames[each] ?? ""), [order, rowNames]);
  const amount = useCallback(
    (number: number) => value(Number.isFinite(number) ? number : null, unit),
    [unit],
  );
  const build = useCallback(
    (theme: SceneTheme, wide: number) => {
      const chosen = { row: order.indexOf(row), column };
      const labels = { rowNames: names, columnNames, rowLabel, columnLabel };
      return heatPicture({ grid, amount, ...chosen, ...labels }, theme, wide);
    },
    [grid, order, row, column, names, columnNames, rowLabel, columnLabel, amount],
  );
  const placeOf = (item: number) =>
    [order[Math.floor(item / columns)] ?? 0, item % columns] as const;
  const { perRow, perColumn, least, highest } = grid;
  return (
    <div ref={box}>
      <Chart
        title={props.title}
        summary={props.summary(amount(least), amount(highest))}
        keys={props.keys}
        height={heatHeight(grid)}
        build={build}
        tips={{ count: order.length * columns, content: (item) => tip(...placeOf(item)) }}
        onPick={(item) => onPick(...placeOf(item))}
        head={[rowLabel, ...joined(columnNames, Math.ceil(columns / MOST_COLUMNS))]}
        rows={() => tableRows(heatGrid(data, MOST_ROWS, MOST_COLUMNS), names, amount)}
      />
      <p className="heat-foot">
        {props.children}
        {(perRow > 1 || perColumn > 1) && (
          <span className="muted">{props.merged(perRow, perColumn)}</span>
        )}
      </p>
    </div>
  );
}

function tableRows(
  { rows, columns, perRow, values }: HeatGrid,
  names: readonly string[],
  amount: (value: number) => string,
): ChartRow[] {
  const heads = joined(names, perRow);
  return Array.from({ length: rows }, (_, row) => {
    const numbers = values.subarray(row * columns, (row + 1) * columns);
    return { cells: [heads[row] ?? "", ...Array.from(numbers, (number) => amount(number))] };
  });
}

/** What cells of so many are called. */
function joined(names: readonly string[], size: number): string[] {
  const firsts = names.filter((_, at) => at % size === 0);
  return firsts.map((first, at) => {
    const last = names[Math.min((at + 1) * size, names.length) - 1];
    return last === first ? first : `${first} … ${last}`;
  });
}
