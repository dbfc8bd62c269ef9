/** Groups as boxes as large as what they have, cut into their items. Pure. */
import { contrast, css, mix, onColor, parseColor } from "../../draw";
import { fitted, head, shorten } from "../labels";
import {
  type Box,
  boxPath,
  FONT_SIZE,
  type Mark,
  type Picture,
  type SceneTheme,
  type Shape,
} from "../scene";
import type { TreemapGroup } from "../types";

/** Of the name of a group, where there is room for it. */
const HEAD = 18;
const PADDING = 4;
/** Boxes leave a line to the next one, if they are larger than that. */
const SEPARATED = 3;
/** What WCAG asks of text of this size, and a little. */
const READABLE = 4.6;
const STRENGTH = 0.55;

export function treemapPicture(
  groups: readonly TreemapGroup[],
  theme: SceneTheme,
  width: number,
  height: number,
): Picture {
  const around = squarified(groups.map(sizeOf), { x: 0, y: 0, width, height });
  const shapes: Shape[] = [];
  const boxes: Box[] = [];
  for (const [at, group] of groups.entries()) {
    const box = around[at];
    if (!box) continue;
    const strong = theme.resolve(group.color);
    const fill = readable(strong, theme);
    const hasHead = box.height > 2 * HEAD && box.width > 2 * HEAD;
    const top = hasHead ? HEAD : 0;
    if (hasHead) {
      shapes.push({
        kind: "rect",
        ...apart({ ...box, height: HEAD }),
        fill: strong,
        hatch: hatch(theme, at),
      });
      shapes.push(nameIn({ ...box, height: HEAD }, group.label, theme, onColor(strong), true));
    }
    const inside = { ...box, y: box.y + top, height: box.height - top };
    const items = squarified(
      group.items.map(({ value }) => value),
      inside,
    );
    for (const [item, { label }] of group.items.entries()) {
      const own = items[item] ?? { ...inside, width: 0 };
      boxes.push(own);
      shapes.push({ kind: "rect", ...apart(own), fill, hatch: hatch(theme, at) });
      if (own.height >= HEAD && own.width > 2 * HEAD)
        shapes.push(nameIn(own, label, theme, theme.text, false));
    }
  }
  return {
    shapes,
    marks: boxes.map(markOf),
    at: (x, y) => {
      const found = boxes.findIndex((box) => isIn(box, x, y));
      return found < 0 ? null : found;
    },
  };
}

export function sizeOf({ items }: TreemapGroup): number {
  return items.reduce((sum, { value }) => sum + value, 0);
}

/**
 * Boxes that fill one, each with its share of it and as square as possible, in the order of `values`, which descends:
 * squarified treemaps of Bruls, Huizing, van Wijk, 2000.
 */
export function squarified(values: readonly number[], into: Box): Box[] {
  const whole = values.reduce((sum, value) => sum + Math.max(0, value), 0);
  const boxes: Box[] = [];
  let left = into;
  let rest = whole;
  let from = 0;
  while (from < values.length) {
    const row = rowOf(values, from, left, rest);
    const sum = row.reduce((total, value) => total + value, 0);
    const isWide = left.width >= left.height;
    const thick = rest > 0 ? (sum / rest) * (isWide ? left.width : left.height) : 0;
    let at = isWide ? left.y : left.x;
    for (const value of row) {
      const long = sum > 0 ? (value / sum) * (isWide ? left.height : left.width) : 0;
      boxes.push(
        isWide
          ? { x: left.x, y: at, width: thick, height: long }
          : { x: at, y: left.y, width: long, height: thick },
      );
      at += long;
    }
    left = isWide
      ? { ...left, x: left.x + thick, width: left.width - thick }
      : { ...left, y: left.y + thick, height: left.height - thick };
    rest -= sum;
    from += row.length;
  }
  return boxes;
}

/** As many values as make the worst of their boxes no flatter. */
function rowOf(values: readonly number[], from: number, left: Box, rest: number): number[] {
  const side = Math.min(left.width, left.height);
  const scale = rest > 0 ? (left.width * left.height) / rest : 0;
  const row: number[] = [];
  let sum = 0;
  let flattest = Number.POSITIVE_INFINITY;
  for (const value of values.slice(from)) {
    const own = Math.max(0, value);
    const next = sum + own;
    const thick = (next * scale) / side;
    const flat = Math.max(...[row[0] ?? own, own].map((each) => flatness(each * scale, thick)));
    if (row.length > 0 && flat > flattest) break;
    row.push(own);
    sum = next;
    flattest = flat;
  }
  return row;
}

/** How far from a square a box of an area is, 1 or more. */
function flatness(area: number, thick: number): number {
  const long = area / thick;
  return Math.max(long / thick, thick / long) || Number.POSITIVE_INFINITY;
}

function apart({ x, y, width, height }: Box): Box {
  const [wide, high] = [width, height].map((size) =>
    Math.max(0, size - (size > SEPARATED ? 1 : 0)),
  );
  return { x, y, width: wide ?? 0, height: high ?? 0 };
}

function nameIn(
  box: Box,
  name: string,
  { measure }: SceneTheme,
  fill: string,
  bold: boolean,
): Shape {
  const room = box.width - 2 * PADDING;
  // Letters that are bold are wider.
  const text = fitted(name, bold ? room * 0.92 : room, measure, bold ? head : shorten);
  return {
    kind: "text",
    x: box.x + PADDING,
    y: box.y + FONT_SIZE + 1,
    text,
    align: "left",
    fill,
    bold,
  };
}

/** As strong as text on it can still be read. */
function readable(color: string, { surface, text }: SceneTheme): string {
  const [own, page, letters] = [color, surface, text].map(parseColor);
  if (!own || !page || !letters) return color;
  let strength = STRENGTH;
  while (strength > 0.1 && contrast(mix(own, page, strength), letters) < READABLE) strength -= 0.02;
  return css(mix(own, page, strength));
}

function hatch({ patterns }: SceneTheme, group: number): number | undefined {
  return patterns ? group : undefined;
}

function markOf(box: Box): Mark {
  return { outline: boxPath(box), x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

function isIn({ x, y, width, height }: Box, atX: number, atY: number): boolean {
  return atX >= x && atX < x + width && atY >= y && atY < y + height;
}
