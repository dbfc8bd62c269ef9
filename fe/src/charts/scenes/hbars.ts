/** Bars from left to right, with names before and values behind them. Pure. */
import { seriesColor } from "../../draw";
import { value } from "../../format";
import { fitted, shorten } from "../labels";
import { boxPath, filled, type Picture, type SceneTheme, type Shape } from "../scene";
import type { HBarsProps } from "../types";

type HBarsData = Pick<HBarsProps, "items" | "unit">;

const ROW = 24;
const BAR = Math.round(ROW * 0.64);
const TOP = 4;
const BOTTOM = 12;
/** For the values. */
const RIGHT = 84;
/** Between a name, its bar and its value. */
const GAP = 6;

export function hbarsHeight(items: number): number {
  return Math.max(1, items) * ROW + TOP + BOTTOM;
}

export function hbarsPicture(
  { items, unit }: HBarsData,
  theme: SceneTheme,
  width: number,
): Picture {
  const names = Math.round(Math.min(320, width * 0.46));
  const left = names + 8;
  const room = Math.max(1, width - left - RIGHT);
  const longest = items.reduce((most, item) => Math.max(most, item.value, item.before ?? 0), 0);
  const lengthOf = (amount: number) => (longest > 0 ? (Math.max(0, amount) / longest) * room : 0);
  const bottom = TOP + Math.max(1, items.length) * ROW;
  const shapes: Shape[] = [
    { kind: "line", x1: left - 0.5, y1: TOP, x2: left - 0.5, y2: bottom, stroke: theme.line },
  ];
  items.forEach((item, index) => {
    const y = TOP + index * ROW + (ROW - BAR) / 2;
    // The least bar is still a bar.
    const length = Math.max(1, lengthOf(item.value));
    const before = lengthOf(item.before ?? 0);
    const color = filled(theme, item.color ?? seriesColor(0), 0);
    shapes.push(
      { kind: "rect", x: left, y, width: length, height: BAR, ...color },
      {
        kind: "text",
        x: left - GAP,
        y: y + BAR - 3,
        text: fitted(item.label, names - GAP, theme.measure, shorten),
        align: "right",
        fill: theme.text,
      },
      {
        kind: "text",
        x: left + Math.max(length, before) + GAP,
        y: y + BAR - 3,
        text: value(item.value, unit),
        align: "left",
        fill: theme.text,
      },
    );
    // An outline over the bar, as long as it was in the baseline.
    if (item.before !== undefined)
      shapes.push({
        kind: "rect",
        x: left + 0.5,
        y: y + 0.5,
        width: before,
        height: BAR - 1,
        stroke: theme.text,
        dashed: true,
      });
  });
  return {
    shapes,
    marks: items.map((item, index) => ({
      outline: boxPath({ x: 0, y: TOP + index * ROW, width, height: ROW }),
      x: left + lengthOf(item.value) / 2,
      y: TOP + (index + 0.5) * ROW,
    })),
    at: (_, y) => {
      const index = Math.floor((y - TOP) / ROW);
      return index >= 0 && index < items.length ? index : null;
    },
  };
}
