/** Rows × columns of numbers as cells, the darker the larger. Pure. */
import { css, mix, pack, parseColor } from "../../draw";
import { columnBox, columnLabels } from "../axes";
import { type HeatGrid, heatOf, heatPixels } from "../heat";
import { type Box, boxPath, type Marks, type Picture, type SceneTheme, type Shape } from "../scene";

interface HeatScene {
  readonly grid: HeatGrid;
  /** Of the data, in the order in which they are drawn. */
  readonly rowNames: readonly string[];
  readonly columnNames: readonly string[];
  readonly rowLabel: string;
  readonly columnLabel: string;
  /** What is framed: a row and a column of the data, -1 for none. */
  readonly row: number;
  readonly column: number;
  readonly amount: (value: number) => string;
}

export const MOST_ROWS = 384;
const TALLEST_ROW = 22;
const LEFT = 68;
const RIGHT = 10;
const TOP = 20;
/** Names of the columns, and the scale. */
const BELOW = 66;
const SHADES = 256;
/** Larger cells are separated by lines. */
const SEPARATED = 8;
/** Larger cells are framed, if they are outliers. */
const FRAMED = 5;
const SCALE = { width: 120, height: 10 };
const PAGE = 10;

function heatPlot({ rows }: HeatGrid, width: number): Box {
  const height = Math.round(Math.min(TALLEST_ROW, MOST_ROWS / rows) * rows);
  return { x: LEFT, y: TOP, width: plotWidth(width), height };
}

export function plotWidth(width: number): number {
  return Math.max(1, width - LEFT - RIGHT);
}

export function heatHeight(grid: HeatGrid): number {
  return heatPlot(grid, 0).height + TOP + BELOW;
}

export function heatPicture(data: HeatScene, theme: SceneTheme, width: number): Picture<Marks> {
  const { grid, rowNames, columnNames } = data;
  const { rows, columns, perRow, perColumn } = grid;
  const plot = heatPlot(grid, width);
  const wide = columnNames.length;
  const colors = shades(theme);
  const box = (row: number, column: number): Box => ({
    ...columnBox(plot, columns, column),
    y: plot.y + (row * plot.height) / rows,
    height: plot.height / rows,
  });
  const boxOf = (item: number) =>
    box(Math.floor(item / wide / perRow), Math.floor((item % wide) / perColumn));
  return {
    shapes: [
      { kind: "image", ...plot, columns, rows, pixels: heatPixels(grid, colors) },
      ...separators(box(0, 0), grid, plot, theme.surface),
      ...outliers(grid, box, plot, theme.text),
      ...frames(data, box, plot, theme.text),
      ...names(data, plot, theme),
      ...scale(data, colors, plot, theme),
    ],
    marks: {
      at: (item) => {
        const { x, y, width, height } = boxOf(item);
        return {
          outline: boxPath({ x, y, width: Math.max(4, width), height: Math.max(4, height) }),
          x: x + width / 2,
          y: y + height / 2,
        };
      },
    },
    at: (x, y) => {
      const column = Math.floor(((x - plot.x) / plot.width) * columns);
      const row = Math.floor(((y - plot.y) / plot.height) * rows);
      const isInside = row >= 0 && row < rows && column >= 0 && column < columns;
      return isInside ? (grid.items[row * columns + column] ?? null) : null;
    },
    move: (key, from) => moved(key, from, rowNames.length, wide),
  };
}

/** From the surface to the accent, as pixels. */
function shades(theme: SceneTheme): Uint32Array<ArrayBuffer> {
  const [accent, surface] = [theme.resolve("var(--accent)"), theme.surface].map(parseColor);
  if (!accent || !surface) return new Uint32Array(SHADES);
  return Uint32Array.from({ length: SHADES }, (_, at) =>
    pack(css(mix(accent, surface, at / (SHADES - 1)))),
  );
}

/** Lines between large cells. */
function separators(cell: Box, { rows, columns }: HeatGrid, plot: Box, fill: string): Shape[] {
  const lines = (count: number, size: number, line: (end: number) => Box) =>
    size > SEPARATED
      ? Array.from({ length: count }, (_, at): Shape => {
          return { kind: "rect", ...line(Math.round((at + 1) * size) - 1), fill };
        })
      : [];
  return [
    ...lines(rows, cell.height, (end) => ({ ...plot, y: plot.y + end, height: 1 })),
    ...lines(columns, cell.width, (end) => ({ ...plot, x: plot.x + end, width: 1 })),
  ];
}

type BoxOf = (row: number, column: number) => Box;

/** A frame where there is room, and a tick at the right. */
function outliers({ columns, marked }: HeatGrid, box: BoxOf, plot: Box, color: string): Shape[] {
  return marked.flatMap((cell): Shape[] => {
    const { x, y, width, height } = box(Math.floor(cell / columns), cell % columns);
    const tick = { x: plot.x + plot.width + 2, y, width: 5 };
    const isFramed = Math.min(width, height) >= FRAMED;
    const frame = { x: x + 0.5, y: y + 0.5, width: width - 2, height: height - 2 };
    return [
      { kind: "rect", ...tick, height: Math.max(1, Math.min(height - 1, 3)), fill: color },
      ...(isFramed ? [{ kind: "rect", ...frame, stroke: color } as const] : []),
    ];
  });
}

/** Around the chosen row and column. */
function frames({ grid, row, column }: HeatScene, box: BoxOf, plot: Box, stroke: string): Shape[] {
  const frame = (of: Box): Shape => ({ kind: "path", d: boxPath(of), stroke, width: 1.5 });
  const shapes: Shape[] = [];
  if (row >= 0) {
    const { y, height } = box(Math.floor(row / grid.perRow), 0);
    shapes.push(frame({ ...plot, y, width: plot.width - 1, height: Math.max(2, height - 1) }));
  }
  if (column >= 0) {
    const { x, width } = box(0, Math.floor(column / grid.perColumn));
    shapes.push(frame({ ...plot, x, width: Math.max(2, width - 1) }));
  }
  return shapes;
}

/** As many names as stand beside each other. */
function names(data: HeatScene, plot: Box, theme: SceneTheme): Shape[] {
  const { grid, rowNames, columnNames, rowLabel, columnLabel } = data;
  const text = { kind: "text", fill: theme.muted } as const;
  const left = { ...text, x: plot.x - 8, align: "right" } as const;
  const height = plot.height / grid.rows;
  const every = Math.max(1, Math.ceil(16 / height)) * grid.perRow;
  const bottom = plot.y + plot.height;
  return [
    ...rowNames.flatMap((name, at): Shape[] => {
      const y = plot.y + (at / grid.perRow) * height + Math.min(height, 16) / 2 + 4;
      return at % every === 0 ? [{ ...left, y, text: name }] : [];
    }),
    { ...left, y: plot.y - 7, text: rowLabel },
    ...columnLabels(
      columnNames.filter((_, at) => at % grid.perColumn === 0),
      plot,
      bottom + 15,
      theme,
    ),
    { ...text, x: plot.x + plot.width / 2, y: bottom + 31, text: columnLabel, align: "center" },
  ];
}

/** Which value is how dark. */
function scale(
  { grid, amount }: HeatScene,
  colors: Uint32Array<ArrayBuffer>,
  plot: Box,
  theme: SceneTheme,
): Shape[] {
  if (grid.highest < grid.least) return [];
  const text = {
    kind: "text",
    y: plot.y + plot.height + 57,
    align: "left",
    fill: theme.muted,
  } as const;
  const [least, most] = [amount(grid.least), amount(grid.most)];
  const x = plot.x + theme.measure(least) + 10;
  const bar = { x, y: text.y - 9, ...SCALE };
  // Without those that are fainter than the least value.
  const faintest = Math.round(heatOf(grid, grid.least) * (SHADES - 1));
  const pixels = colors.slice(faintest);
  return [
    { ...text, x: plot.x, text: least },
    { kind: "image", ...bar, columns: pixels.length, rows: 1, pixels },
    { kind: "rect", ...bar, stroke: theme.line },
    { ...text, x: x + SCALE.width + 10, text: grid.highest > grid.most ? `≥ ${most}` : most },
  ];
}

/** Rows and columns that a key goes; Home and End stay in the row. */
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  PageUp: [-PAGE, 0],
  PageDown: [PAGE, 0],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
};

function moved(key: string, from: number, rows: number, columns: number): number | null {
  const step = STEPS[key];
  if (!step) return null;
  const within = (place: number, count: number) => Math.max(0, Math.min(count - 1, place));
  const row = within(Math.floor(from / columns) + step[0], rows);
  return row * columns + within((from % columns) + step[1], columns);
}
