import type { Unit } from "../../format";
import type { ColumnSeries, Range } from "../merge";

export interface ColumnsProps {
  /** Names the picture: its accessible name, and the file name of a saved image. */
  readonly title: string;
  readonly unit: Unit;
  readonly xLabel: string;
  /** What many of the items are called: "steps". */
  readonly what: string;
  readonly names: readonly string[];
  /** More about an item, for the tooltip. */
  readonly details?: ((item: number) => string | null) | undefined;
  readonly series: readonly ColumnSeries[];
  /** `percent`: each column is scaled to 100 %. */
  readonly mode: "absolute" | "percent";
  /** Items from left to right. */
  readonly order: readonly number[];
  /** The positions of the order that are shown; null shows all. */
  readonly range: Range | null;
  readonly onRange: (range: Range | null) => void;
  readonly selected: number | null;
  readonly flagged?: readonly boolean[];
  readonly onPick: (item: number) => void;
}
