import type { ChartColor } from "../draw";
import type { Unit } from "../format";

interface Common {
  /** Names the picture: its accessible name, and the file name of a saved image. */
  readonly title: string;
  readonly unit: Unit;
  /** Pixels. */
  readonly height?: number;
}

export interface BarSeries {
  readonly key: string;
  readonly label: string;
  /** One value for each entry of `x`. */
  readonly values: readonly number[];
  readonly color?: ChartColor;
}

export interface StackedBarsProps extends Common {
  readonly x: readonly string[];
  /** When each entry of `x` is (ns), in order, if these are moments: the axis then has round times. */
  readonly times?: readonly number[];
  /** Heading of the x axis and of the table's first column. */
  readonly xLabel?: string;
  /** More about each entry of `x`, for the tooltip and the table; may be long. */
  readonly details?: readonly string[];
  /** Heading of the details in the table. */
  readonly detailsLabel?: string;
  readonly series: readonly BarSeries[];
  /** `percent`: each column is scaled to 100 %. */
  readonly mode: "absolute" | "percent";
  /** By its place in `x`. */
  readonly onPick?: (index: number) => void;
}

export interface PairedItem {
  readonly label: string;
  /** More about it, for the tooltip; may be long. */
  readonly details?: string;
  readonly before: number;
  readonly after: number;
}

export interface PairedBarsProps extends Omit<Common, "height"> {
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly items: readonly PairedItem[];
  /** What the items before the first add up to, when these are not all. */
  readonly start?: { readonly before: number; readonly after: number } | undefined;
  /** Heading of the items in the table. */
  readonly itemLabel: string;
  readonly names: Readonly<
    Record<
      | "before"
      | "after"
      | "beforeSum"
      | "afterSum"
      | "difference"
      | "differencePercent"
      | "accumulated",
      string
    >
  >;
  readonly onPick?: ((index: number) => void) | undefined;
}

export interface Slice {
  readonly label: string;
  /** The whole text that the label is short for. */
  readonly title?: string;
  readonly value: number;
  /** Everything that has no slice of its own; it cannot be picked. */
  readonly rest?: boolean;
  readonly color?: ChartColor;
}

export interface DonutProps extends Common {
  readonly slices: readonly Slice[];
  /** False where a table next to the picture names the colours already. */
  readonly legend?: boolean;
  readonly onPick?: (index: number) => void;
}

export interface HBarItem {
  readonly label: string;
  /** The whole text that the label is short for. */
  readonly title?: string;
  readonly value: number;
  /** What it was in the baseline of a comparison. */
  readonly before?: number;
  /** The global selection this bar stands for, e.g. `op:aten::mm`; given back to `onPick`. */
  readonly select?: string;
  readonly color?: ChartColor;
}

export interface HBarsProps extends Common {
  readonly items: readonly HBarItem[];
  /** What the bars are a part of; the tooltip then gives the share. */
  readonly total?: number | null;
  readonly onPick?: (item: HBarItem, index: number) => void;
}

/** A step function over time. */
export interface CurveLine {
  readonly key: string;
  readonly label: string;
  readonly color: ChartColor;
  /**
   * A moment (ns) and the value from then on, in order. A moment with several values is drawn with all of them, so
   * that a stretch of many changes shows its lowest and highest.
   */
  readonly points: readonly (readonly [number, number])[];
  /** Filled below. */
  readonly area?: boolean;
  readonly dashed?: boolean;
}

/** A point worth a label. */
export interface CurveMark {
  readonly time: number;
  readonly value: number;
  readonly label: string;
}

/** One of several areas that are stacked: between two heights, which change at moments. */
export interface CurveArea {
  /** One more than heights: the last one is its end. */
  readonly times: readonly number[];
  readonly low: ArrayLike<number>;
  readonly high: ArrayLike<number>;
  readonly color: ChartColor;
  /** With a line to the next one, where it is high enough. */
  readonly outlined: boolean;
}

/** Something that happened at a moment: a line across the plot. */
export interface CurveEvent {
  readonly time: number;
  readonly color: ChartColor;
  readonly label?: string | undefined;
  /** Pixels of a tick below the axis, which it is instead. */
  readonly tick?: number | undefined;
}

/** A named stretch of the x axis, such as a step. */
export interface CurveSpan {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

interface ScatterPoint {
  readonly x: number;
  readonly y: number;
}

export interface ScatterSeries {
  readonly key: string;
  readonly label: string;
  readonly color: ChartColor;
  readonly points: readonly ScatterPoint[];
  /** A line, from left to right; empty without one. */
  readonly curve: readonly ScatterPoint[];
  readonly hidden?: boolean;
}

/** Points with values above 0 on two logarithmic axes. */
export interface ScatterData {
  readonly series: readonly ScatterSeries[];
  readonly xUnit: Unit;
  readonly yUnit: Unit;
  readonly xLabel: string;
  readonly yLabel: string;
}

export interface GanttSpan {
  /** Position in the rows. */
  readonly row: number;
  /** Key of its kind. */
  readonly kind: string;
  /** ns from the left edge. */
  readonly start: number;
  readonly end: number;
}

export interface GanttData {
  readonly rows: readonly string[];
  readonly spans: readonly GanttSpan[];
  readonly kinds: readonly {
    readonly key: string;
    readonly label: string;
    readonly color: ChartColor;
  }[];
  /** ns: the right edge. */
  readonly end: number;
}

export interface LaneMark {
  /** ns, as those of the picture. */
  readonly start: number;
  readonly end: number;
  readonly color: ChartColor;
  /** Written on it where there is room. */
  readonly label: string;
  /** Nothing ran: it is not as high as its lane. */
  readonly low: boolean;
}

/** What went on side by side. Marks by time, those of a lane do not overlap. */
export interface LanesData {
  /** ns: the edges. */
  readonly start: number;
  readonly end: number;
  readonly lanes: readonly {
    readonly label: string;
    readonly size: "thin" | "wide";
    readonly marks: readonly LaneMark[];
  }[];
  readonly pins: readonly { readonly time: number; readonly label: string }[];
}

/** Segments of memory and what they are cut into, both by address. */
export interface SegmentsData {
  readonly segments: { readonly bytes: readonly number[] };
  readonly pieces: {
    /** Position in the segments. */
    readonly segment: readonly number[];
    /** Bytes from the beginning of the segment. */
    readonly offset: readonly number[];
    readonly bytes: readonly number[];
  };
  /** The colour of a piece, null of free memory, and which part of its height is filled. */
  readonly look: (piece: number) => { readonly color: ChartColor | null; readonly part: number };
}

/** Who waits for whom. Columns count from the left; rows within their column from the top. */
export interface WaitsData {
  readonly boxes: readonly {
    readonly title: string;
    readonly about: string;
    readonly place: string;
    readonly column: number;
    readonly row: number;
    /** It is to blame. */
    readonly isNamed: boolean;
  }[];
  /** From who waits to whom; indices of boxes. */
  readonly lines: readonly { readonly from: number; readonly to: number }[];
}

/** A part of a whole, in parts; the largest first. */
export interface TreemapGroup {
  readonly label: string;
  readonly color: ChartColor;
  readonly items: readonly TreemapItem[];
}

interface TreemapItem {
  readonly label: string;
  /** The whole name, where `label` is a part of it. */
  readonly title?: string;
  readonly value: number;
}

/** What a change would give: at most, in part (null: it cannot be had in part), and the interval of the most. */
export interface TornadoItem {
  readonly label: string;
  readonly color: ChartColor;
  readonly most: number;
  readonly part: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** Values in a grid, of which some may be missing. */
export interface DeviationData {
  readonly rows: readonly string[];
  readonly columns: number;
  /** Row after row. */
  readonly cells: readonly DeviationCell[];
  readonly unit: Unit;
}

interface DeviationCell {
  readonly row: number;
  readonly column: number;
  readonly label: string;
  readonly value: number | null;
  /** It is to be seen at once. */
  readonly marked: boolean;
}
