import { useCallback, useMemo } from "react";
import { change, value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import type { SceneTheme } from "./scene";
import { deviationPicture, middleOf, rowHeight } from "./scenes/deviation";
import type { DeviationData } from "./types";

interface Props extends DeviationData {
  readonly title: string;
  /** Headings of the table: of a row, of a cell, of its value. */
  readonly head: readonly [row: string, cell: string, value: string];
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly onPick: (cell: number) => void;
}

/** Tiles by how far they are from the median. Arrays must keep their identity while they mean the same. */
export function DeviationMap({ title, rows, columns, cells, unit, head, summary, onPick }: Props) {
  const build = useCallback(
    (theme: SceneTheme, width: number) =>
      deviationPicture({ rows, columns, cells, unit }, theme, width),
    [rows, columns, cells, unit],
  );
  const middle = useMemo(() => middleOf(cells), [cells]);
  const away = (own: number | null) =>
    own === null ? value(null, unit) : change(own - middle, unit);
  const content = (at: number) => {
    const cell = cells[at];
    return {
      title: [rows[cell?.row ?? 0], cell?.label].filter(Boolean).join(" · "),
      lines: [
        { label: head[2], value: value(cell?.value, unit) },
        { label: chartsTexts.fromMedian, value: away(cell?.value ?? null) },
      ],
    };
  };
  return (
    <Chart
      title={title}
      summary={summary}
      height={rows.length * rowHeight(rows.length)}
      build={build}
      tips={{ count: cells.length, content }}
      onPick={onPick}
      legend={[
        { key: "below", label: chartsTexts.belowMedian, color: "var(--better)", shown: true },
        { key: "above", label: chartsTexts.aboveMedian, color: "var(--worse)", shown: true },
      ]}
      head={[...head, chartsTexts.fromMedian]}
      texts={2}
      rows={cells.map((cell, at) => ({
        cells: [rows[cell.row] ?? "", cell.label, value(cell.value, unit), away(cell.value)],
        onPick: () => onPick(at),
      }))}
    />
  );
}
