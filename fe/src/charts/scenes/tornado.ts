/** What each of some changes would give, at most and in part, with the interval of the most. Pure. */
import { css, mix, parseColor } from "../../draw";
import { type Unit, value } from "../../format";
import { fitted, head } from "../labels";
import { boxPath, type Picture, type SceneTheme, type Shape } from "../scene";
import type { TornadoItem } from "../types";

const ROW = 30;
const BAR = 16;
const TOP = 4;
/** For the values. */
const RIGHT = 84;
const GAP = 6;
/** Of the color of what would be given at most. */
const PALE = 0.4;
const WHISKER = 5;

export function tornadoHeight(items: number): number {
  return TOP + Math.max(1, items) * ROW;
}

export function tornadoPicture(
  items: readonly TornadoItem[],
  unit: Unit,
  theme: SceneTheme,
  width: number,
): Picture {
  const names = Math.round(Math.min(240, width * 0.4));
  const left = names + GAP;
  const room = Math.max(1, width - left - RIGHT);
  const longest = Math.max(0, ...items.map(({ most, high }) => Math.max(most, high ?? 0)));
  const lengthOf = (amount: number) => (longest > 0 ? (Math.max(0, amount) / longest) * room : 0);
  const surface = parseColor(theme.surface);
  const shapes: Shape[] = [
    {
      kind: "line",
      x1: left - 0.5,
      y1: TOP,
      x2: left - 0.5,
      y2: tornadoHeight(items.length),
      stroke: theme.line,
    },
  ];
  for (const [at, { label, color, most, part, low, high }] of items.entries()) {
    const y = TOP + at * ROW + (ROW - BAR) / 2;
    const middle = y + BAR / 2;
    const strong = theme.resolve(color);
    const hatch = theme.patterns ? at : undefined;
    const pale = css(mix(parseColor(strong), surface, PALE));
    const text = { kind: "text", y: y + BAR - 3, fill: theme.text } as const;
    shapes.push(
      {
        kind: "rect",
        x: left,
        y,
        width: Math.max(1, lengthOf(most)),
        height: BAR,
        fill: pale,
        hatch,
      },
      {
        ...text,
        x: left - GAP,
        text: fitted(label, names - GAP, theme.measure, head),
        align: "right",
      },
    );
    if (part !== null)
      shapes.push({ kind: "rect", x: left, y, width: lengthOf(part), height: BAR, fill: strong });
    if (low !== null && high !== null) {
      const ends = [left + lengthOf(low), left + lengthOf(high)] as const;
      shapes.push({
        kind: "line",
        x1: ends[0],
        y1: middle,
        x2: ends[1],
        y2: middle,
        stroke: theme.text,
      });
      for (const x of ends)
        shapes.push({
          kind: "line",
          x1: x,
          y1: middle - WHISKER,
          x2: x,
          y2: middle + WHISKER,
          stroke: theme.text,
        });
    }
    const end = Math.max(most, high ?? 0);
    shapes.push({ ...text, x: left + lengthOf(end) + GAP, text: value(most, unit), align: "left" });
  }
  return {
    shapes,
    marks: items.map(({ most }, at) => ({
      outline: boxPath({ x: 0, y: TOP + at * ROW, width, height: ROW }),
      x: left + lengthOf(most) / 2,
      y: TOP + (at + 0.5) * ROW,
    })),
    at: (_, y) => {
      const row = Math.floor((y - TOP) / ROW);
      return row >= 0 && row < items.length ? row : null;
    },
  };
}
