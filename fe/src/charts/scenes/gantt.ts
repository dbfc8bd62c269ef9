/** Stretches of time in rows, one row below the other. Pure. */
import { timeAxis } from "../../draw";
import { fitted, shorten } from "../labels";
import { type Box, boxPath, filled, type Picture, type SceneTheme, type Shape } from "../scene";
import type { GanttData } from "../types";

const ROW = 26;
const BAR = 18;
const TOP = 4;
const BOTTOM = 24;

export function ganttHeight(rows: number): number {
  return Math.max(1, rows) * ROW + TOP + BOTTOM;
}

export function ganttPicture(
  { rows, spans, kinds, end }: GanttData,
  theme: SceneTheme,
  width: number,
): Picture {
  const names = Math.round(
    Math.min(
      160,
      width * 0.3,
      rows.reduce((most, name) => Math.max(most, theme.measure(name)), 0) + 8,
    ),
  );
  const left = names + 8;
  const room = Math.max(1, width - left - 8);
  const xOf = (time: number) => left + (end > 0 ? time / end : 0) * room;
  const shapes = [
    ...axisShapes(end, rows.length, xOf, theme, width, room),
    ...rows.map((name, row): Shape => {
      const text = fitted(name, names, theme.measure, shorten);
      const place = { x: names, y: TOP + row * ROW + ROW / 2 + 4 };
      return { kind: "text", ...place, text, align: "right", fill: theme.text };
    }),
  ];
  const boxes = spans.map((span): Box => {
    const [from, to] = [xOf(span.start), xOf(span.end)];
    return {
      x: from,
      y: TOP + span.row * ROW + (ROW - BAR) / 2,
      width: Math.max(0.5, to - from),
      height: BAR,
    };
  });
  spans.forEach(({ kind }, at) => {
    const box = boxes[at];
    const found = kinds.findIndex(({ key }) => key === kind);
    const color = kinds[found]?.color;
    if (box && color !== undefined) {
      shapes.push({ kind: "rect", ...box, ...filled(theme, color, found) });
    }
  });
  return {
    shapes,
    marks: boxes.map((box) => ({
      outline: boxPath(box),
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    })),
    at: (x, y) => {
      const row = Math.floor((y - TOP) / ROW);
      let found: number | null = null;
      let least = 3;
      spans.forEach((span, at) => {
        const box = boxes[at];
        if (span.row !== row || !box) return;
        const distance = Math.max(box.x - x, x - box.x - box.width, 0);
        if (distance >= least) return;
        found = at;
        least = distance;
      });
      return found;
    },
  };
}

/** Round times below the rows, and lines up from them. */
function axisShapes(
  end: number,
  rows: number,
  xOf: (time: number) => number,
  theme: SceneTheme,
  width: number,
  room: number,
): Shape[] {
  const bottom = TOP + Math.max(1, rows) * ROW;
  const axis = timeAxis({ start: 0, end: Math.max(1, end) }, Math.max(2, Math.floor(room / 110)));
  const label = { kind: "text", y: bottom + 16, align: "center", fill: theme.muted } as const;
  return axis.ticks.flatMap((tick): Shape[] => {
    const x = Math.round(xOf(tick)) + 0.5;
    return [
      { kind: "line", x1: x, y1: TOP, x2: x, y2: bottom, stroke: theme.line },
      { ...label, x: Math.min(x, width - 24), text: axis.label(tick) },
    ];
  });
}
