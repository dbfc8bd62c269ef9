/** Who waits for whom: boxes in columns, those that wait for nobody at the left, and lines to the boxes they wait for. Pure. */
import { fitted, shorten } from "../labels";
import { type Box, boxPath, type Picture, pixels, type SceneTheme, type Shape } from "../scene";
import type { WaitsData } from "../types";

const TOP = 8;
const HEIGHT = 58;
const ROW = HEIGHT + 14;
/** Between columns: for the lines. */
const GAP = 56;
const WIDEST = 260;
const PADDING = 8;
const ARROW = 5;

export function waitsHeight({ boxes }: WaitsData): number {
  return TOP + Math.max(1, ...boxes.map(({ row }) => row + 1)) * ROW;
}

export function waitsPicture(
  { boxes, lines }: WaitsData,
  theme: SceneTheme,
  width: number,
): Picture {
  const columns = Math.max(1, ...boxes.map(({ column }) => column + 1));
  const wide = Math.max(24, Math.min(WIDEST, (width - GAP * (columns - 1)) / columns));
  const places = boxes.map(
    ({ column, row }): Box => ({
      x: column * (wide + GAP) + 0.5,
      y: TOP + row * ROW + 0.5,
      width: wide - 1,
      height: HEIGHT,
    }),
  );
  const stopped = theme.resolve("var(--danger)");
  const shapes: Shape[] = lines.flatMap(({ from, to }) =>
    lineShapes(places[from], places[to], theme),
  );
  boxes.forEach(({ title, about, place, isNamed }, at) => {
    const box = places[at];
    if (!box) return;
    const text = { kind: "text", x: box.x + PADDING, align: "left" } as const;
    const room = box.width - 2 * PADDING;
    const inside = (label: string) => fitted(label, room, theme.measure, shorten);
    shapes.push(
      { kind: "rect", ...box, fill: theme.surface, stroke: isNamed ? stopped : theme.muted },
      ...(isNamed ? [{ kind: "rect", ...box, width: 4, fill: stopped } as const] : []),
      {
        ...text,
        y: box.y + 17,
        text: inside(title),
        bold: true,
        fill: isNamed ? stopped : theme.text,
      },
      { ...text, y: box.y + 34, text: inside(about), fill: theme.text },
      { ...text, y: box.y + 50, text: inside(place), fill: theme.muted },
    );
  });
  return {
    shapes,
    marks: places.map((box) => ({
      outline: boxPath(box),
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    })),
    at: (x, y) => {
      const place = places.findIndex(
        (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
      );
      return place < 0 ? null : place;
    },
  };
}

/** From the left side of a box to the right side of the one that it waits for; within a column around its right side. */
function lineShapes(from: Box | undefined, to: Box | undefined, theme: SceneTheme): Shape[] {
  if (!from || !to) return [];
  const isAside = from.x <= to.x;
  const [x1, y1] = [isAside ? from.x + from.width : from.x, from.y + from.height / 2];
  const [x2, y2] = [to.x + to.width, to.y + to.height / 2 + (isAside ? 8 : 0)];
  const bend = isAside ? Math.max(x1, x2) + GAP / 2 : (x1 + x2) / 2;
  const [a, b, c, d, e] = [x1, y1, bend, x2 + ARROW, y2].map(pixels);
  return [
    { kind: "path", d: `M${a} ${b}C${c} ${b} ${c} ${e} ${d} ${e}`, stroke: theme.muted },
    {
      kind: "path",
      d: `M${pixels(x2)} ${e}l${ARROW} ${-ARROW + 1}v${2 * (ARROW - 1)}z`,
      fill: theme.muted,
    },
  ];
}
