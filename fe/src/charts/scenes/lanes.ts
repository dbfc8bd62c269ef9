/** What went on side by side in an interval: a lane of marks for each, and numbered pins above them. Pure. */
import { contrast, parseColor, timeAxis } from "../../draw";
import { fitted, head } from "../labels";
import { type Box, boxPath, filled, type Picture, type SceneTheme, type Shape } from "../scene";
import type { LanesData } from "../types";

const PINS = 24;
const RADIUS = 9;
const GAP = 5;
const BOTTOM = 20;
/** Pixels of the lanes. */
const HEIGHTS = { thin: 18, wide: 32 } as const;
/** Which part of its lane a low mark fills. */
const LOW = 0.45;
const NAMES = 116;
const LEAST = 0.5;
const NEAR = 3;

const topOf = ({ pins }: Pick<LanesData, "pins">) => (pins.length > 0 ? PINS : 0);

export function lanesHeight({ lanes, pins }: Pick<LanesData, "lanes" | "pins">): number {
  return lanes.reduce((sum, { size }) => sum + HEIGHTS[size] + GAP, topOf({ pins })) + BOTTOM;
}

/** Pins come before marks, marks by lane and time. */
export function lanesPicture(data: LanesData, theme: SceneTheme, width: number): Picture {
  const { start, end, lanes, pins } = data;
  const widest = Math.max(0, ...lanes.map(({ label }) => theme.measure(label)));
  const left = Math.round(Math.min(NAMES, width * 0.25, widest)) + 8;
  const room = Math.max(1, width - left - 8);
  const xOf = (time: number) => left + ((time - start) / Math.max(1, end - start)) * room;
  const heads = pins.map(({ time }): Box => {
    const x = Math.max(left + RADIUS, Math.min(width - RADIUS, xOf(time)));
    return { x: x - RADIUS, y: (PINS - 4) / 2 - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS };
  });
  let top = topOf(data);
  const rows = lanes.map(({ size, marks }) => {
    const y = top;
    const height = HEIGHTS[size];
    top += height + GAP;
    const boxes = marks.map((mark): Box => {
      const high = mark.low ? Math.round(height * LOW) : height;
      const [from, to] = [xOf(Math.max(start, mark.start)), xOf(Math.min(end, mark.end))];
      return { x: from, y: y + height - high, width: Math.max(LEAST, to - from), height: high };
    });
    return { y, height, boxes };
  });
  const bottom = top - GAP;
  const boxes = [heads, ...rows.map((row) => row.boxes)];
  const firsts = boxes.map((_, row) => boxes.slice(0, row).flat().length);
  const all = boxes.flat();

  const shapes: Shape[] = axisShapes(start, end, bottom, xOf, room, theme, width);
  lanes.forEach(({ label, marks }, row) => {
    const place = rows[row];
    if (!place) return;
    const { y, height } = place;
    const text = { kind: "text", y: y + height / 2 + 4 } as const;
    const cut = fitted(label, left - 8, theme.measure, head);
    shapes.push({ ...text, x: left - 8, text: cut, align: "right", fill: theme.text });
    shapes.push({ kind: "rect", x: left, y, width: room, height, fill: theme.line });
    marks.forEach((mark, at) => {
      const box = place.boxes[at];
      if (!box) return;
      shapes.push({ kind: "rect", ...box, ...filled(theme, mark.color, at) });
      const inside = box.width - 8;
      if (mark.low || theme.patterns || !mark.label || theme.measure(mark.label) > inside) return;
      const on = {
        fill: readable(theme.resolve(mark.color)),
        align: "center",
        text: mark.label,
      } as const;
      shapes.push({ ...text, x: box.x + box.width / 2, ...on });
    });
  });
  pins.forEach(({ label, time }, at) => {
    const box = heads[at];
    if (!box) return;
    const [x, y] = [box.x + RADIUS, box.y + RADIUS];
    const line = { kind: "line", x1: xOf(time), x2: xOf(time), dashed: true } as const;
    shapes.push({ ...line, y1: y + RADIUS, y2: bottom, stroke: theme.text });
    shapes.push({ kind: "path", d: circle(x, y), fill: theme.text });
    const number = { kind: "text", x, y: y + 4, text: label, bold: true } as const;
    shapes.push({ ...number, align: "center", fill: theme.surface });
  });

  const rowOf = (index: number) => firsts.findLastIndex((first) => first <= index);
  const middle = (box: Box) => box.x + box.width / 2;
  /** The nearest of a row, null farther than `reach` pixels from all. */
  const nearest = (row: number, x: number, reach = Number.POSITIVE_INFINITY) => {
    let best: number | null = null;
    let least = reach;
    boxes[row]?.forEach((box, at) => {
      const distance = Math.max(box.x - x, x - box.x - box.width, 0);
      if (distance >= least) return;
      best = (firsts[row] ?? 0) + at;
      least = distance;
    });
    return best;
  };
  const filledRows = boxes.flatMap((row, at) => (row.length > 0 ? [at] : []));
  return {
    shapes,
    marks: all.map((box) => ({ outline: boxPath(box), x: middle(box), y: box.y + box.height / 2 })),
    at: (x, y) => {
      if (pins.length > 0 && y < PINS - 2) return nearest(0, x, NEAR);
      const row = rows.findIndex((each) => y >= each.y && y < each.y + each.height);
      return row < 0 ? null : nearest(row + 1, x, NEAR);
    },
    move: (key, from) => {
      const row = rowOf(from);
      const [first, count] = [firsts[row] ?? 0, boxes[row]?.length ?? 0];
      const within = (at: number) => Math.max(first, Math.min(first + count - 1, at));
      switch (key) {
        case "ArrowLeft":
          return within(from - 1);
        case "ArrowRight":
          return within(from + 1);
        case "Home":
          return first;
        case "End":
          return within(first + count - 1);
        case "ArrowUp":
        case "ArrowDown": {
          const to = filledRows[filledRows.indexOf(row) + (key === "ArrowUp" ? -1 : 1)];
          const box = all[from];
          return to === undefined || !box ? from : nearest(to, middle(box));
        }
        default:
          return null;
      }
    },
  };
}

/** Round times since the beginning below the lanes. */
function axisShapes(
  start: number,
  end: number,
  bottom: number,
  xOf: (time: number) => number,
  room: number,
  theme: SceneTheme,
  width: number,
): Shape[] {
  const axis = timeAxis(
    { start: 0, end: Math.max(1, end - start) },
    Math.max(2, Math.floor(room / 110)),
  );
  return axis.ticks.map((tick): Shape => {
    const text = axis.label(tick);
    const x = Math.min(xOf(start + tick), width - theme.measure(text) / 2);
    return { kind: "text", x, y: bottom + 15, text, align: "center", fill: theme.muted };
  });
}

function circle(x: number, y: number): string {
  return `M${x - RADIUS} ${y}a${RADIUS} ${RADIUS} 0 1 0 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${-2 * RADIUS} 0z`;
}

/** Black or white, whichever is read better on a colour. */
function readable(fill: string): string {
  const on = parseColor(fill);
  return contrast(on, [255, 255, 255]) >= contrast(on, [0, 0, 0]) ? "#ffffff" : "#000000";
}
