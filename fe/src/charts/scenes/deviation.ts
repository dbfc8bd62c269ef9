/** A grid of tiles by how far each value is from the median: the better the bluer, the worse the more orange. Pure. */
import { css, mix, onColor, parseColor } from "../../draw";
import { inOneUnit, median, signed } from "../../format";
import { fitted, head } from "../labels";
import { type Box, boxPath, type Picture, pixels, type SceneTheme, type Shape } from "../scene";
import type { DeviationData } from "../types";

const NAMES = 76;
const GAP = 2;
const TALLEST = 34;
const LOWEST = 16;
/** Height of all rows together, where they can be so low. */
const ROOM = 300;
/** Of the value that is farthest. */
const STRONGEST = 0.85;
/** Pixels that a tile needs for its deviation beside its name. */
const WIDE = 92;

export function rowHeight(rows: number): number {
  return Math.max(LOWEST, Math.min(TALLEST, Math.floor(ROOM / Math.max(1, rows))));
}

/** Of what is known of cells. */
export function middleOf(cells: DeviationData["cells"]): number {
  return median(cells.flatMap(({ value }) => value ?? [])) ?? 0;
}

export function deviationPicture(
  { rows, columns, cells, unit }: DeviationData,
  theme: SceneTheme,
  width: number,
): Picture {
  const high = rowHeight(rows.length);
  const wide = Math.max(4, (width - NAMES) / Math.max(1, columns));
  const middle = middleOf(cells);
  const farthest = Math.max(0, ...cells.map(({ value }) => Math.abs((value ?? middle) - middle)));
  const away = inOneUnit(unit, [], farthest);
  const boxes = cells.map(
    ({ row, column }): Box => ({
      x: pixels(NAMES + column * wide),
      y: row * high,
      width: pixels(wide - GAP),
      height: high - GAP,
    }),
  );
  const [better, worse] = ["var(--better)", "var(--worse)"].map((color) =>
    parseColor(theme.resolve(color)),
  );
  const surface = parseColor(theme.surface);
  const shapes: Shape[] = rows.map((name, row) => ({
    kind: "text",
    x: 0,
    y: row * high + high / 2 + 3,
    text: fitted(name, NAMES - 8, theme.measure, head),
    align: "left",
    fill: theme.muted,
  }));
  for (const [at, { label, value, marked }] of cells.entries()) {
    const box = boxes[at];
    if (!box) continue;
    const by = value === null ? 0 : value - middle;
    const strength = farthest > 0 ? (STRONGEST * Math.abs(by)) / farthest : 0;
    const own = by < 0 ? better : worse;
    const fill = own && value !== null ? css(mix(own, surface, strength)) : theme.line;
    shapes.push({
      kind: "rect",
      ...box,
      fill,
      stroke: marked ? theme.text : theme.line,
      hatch: theme.patterns && by > 0 ? 1 : undefined,
    });
    const text = box.width < WIDE || value === null ? label : `${label}  ${signed(by, away)}`;
    if (theme.measure(label) <= box.width - 4)
      shapes.push({
        kind: "text",
        x: box.x + box.width / 2,
        y: box.y + box.height / 2 + 4,
        text: fitted(text, box.width - 4, theme.measure, head),
        align: "center",
        fill: onColor(fill),
        bold: marked,
      });
  }
  return {
    shapes,
    marks: boxes.map((box) => ({
      outline: boxPath(box),
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    })),
    at: (x, y) => {
      const found = boxes.findIndex(
        (box) => x >= box.x && x < box.x + wide && y >= box.y && y < box.y + high,
      );
      return found < 0 ? null : found;
    },
    move: (key, from) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[key];
      const cell = cells[from];
      if (by === undefined) {
        const next = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: cells.length - 1 }[
          key
        ];
        return next === undefined ? null : Math.max(0, Math.min(cells.length - 1, next));
      }
      const target = cells.findIndex(
        ({ row, column }) => row === (cell?.row ?? 0) + by && column === cell?.column,
      );
      return target < 0 ? from : target;
    },
  };
}
