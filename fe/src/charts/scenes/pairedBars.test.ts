import { expect, it } from "vitest";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { PAIRED_COLORS, pairedPicture, pairedPlots, runningSums } from "./pairedBars";

const NASTY = "<img src=x onerror=alert(1)>{a|b}";
const ITEMS = [
  { label: "loader", before: 100, after: 10 },
  { label: NASTY, details: NASTY, before: 0, after: 30 },
];
const draw = (width = 900, more: Partial<Parameters<typeof pairedPicture>[0]> = {}) =>
  pairedPicture({ items: ITEMS, unit: "ns", hidden: new Set(), ...more }, THEME, width);
const { better, worse, before, after, accumulated } = PAIRED_COLORS;
const rects = (picture: ReturnType<typeof draw>, ...fills: string[]) =>
  shapesOf(picture.shapes, "rect").filter(({ fill }) => fills.includes(fill ?? ""));

it("adds up from the left, also when it is not the beginning", () => {
  expect(runningSums(ITEMS)).toEqual([
    { before: 100, after: 10 },
    { before: 100, after: 40 },
  ]);
  expect(runningSums(ITEMS, { before: 5, after: 1000 })).toEqual([
    { before: 105, after: 1010 },
    { before: 105, after: 1040 },
  ]);
});

it("draws what differs up and down from 0", () => {
  const [first, second] = rects(draw(), better, worse);
  expect([first?.fill, second?.fill]).toEqual([better, worse]);
  // −90 hangs below the line on which +30 stands.
  expect(first?.y).toBeCloseTo((second?.y ?? 0) + (second?.height ?? 0));
  expect((first?.height ?? 0) / (second?.height ?? 1)).toBeCloseTo(3);
});

it("draws the sides beside each other, in proportion", () => {
  const [a, b] = rects(draw(), before, after);
  expect((a?.height ?? 0) / (b?.height ?? 1)).toBeCloseTo(10);
  expect((a?.x ?? 0) + (a?.width ?? 0)).toBeLessThanOrEqual(b?.x ?? 0);
});

it("accumulates in steps from the middle of one item to the middle of the next", () => {
  const { lower } = pairedPlots(2, 900);
  const line = shapesOf(draw().shapes, "path").find(
    ({ stroke, width }) => stroke === accumulated && width === 2,
  );
  const quarter = lower.x + lower.width / 4;
  expect(line?.d.startsWith(`M${quarter} `)).toBe(true);
  expect(line?.d).toContain(`H${lower.x + lower.width / 2}V`);
  expect(line?.d.endsWith(`H${lower.x + 0.75 * lower.width}`)).toBe(true);
});

it("turns labels where there is little room, and cuts them", () => {
  const labels = (width: number) =>
    shapesOf(draw(width).shapes, "text").filter(
      ({ text }) => text.startsWith("load") || text.startsWith("<img"),
    );
  expect(labels(900).map(({ turned }) => turned)).toEqual([undefined, undefined]);
  expect(labels(900)[0]?.text).toBe("loader");
  expect(labels(200).every(({ turned = 0 }) => turned > 0)).toBe(true);
  expect(labels(200)[1]?.text).toBe("<img src=x one…");
  // Two labels side by side never touch.
  const room = (400 - 78 - 76) / ITEMS.length;
  for (const { text } of labels(400)) expect(THEME.measure(text)).toBeLessThan(room);
});

it("gives the room of turned labels to the upper plot where they stand upright", () => {
  const [wide, narrow] = [pairedPlots(2, 900), pairedPlots(2, 200)];
  expect(wide.upper.height).toBeGreaterThan(narrow.upper.height);
  for (const { upper, lower } of [wide, narrow])
    expect(upper.y + upper.height).toBeLessThan(lower.y);
});

it("hears a pointer anywhere above or below an item", () => {
  const { upper } = pairedPlots(2, 900);
  const picture = draw();
  expect(picture.marks).toHaveLength(2);
  expect(picture.at(upper.x + 1, 0)).toBe(0);
  expect(picture.at(upper.x + upper.width - 1, 400)).toBe(1);
  expect(picture.at(upper.x - 1, 60)).toBeNull();
});

it("hides what is not wanted, and the others take its room", () => {
  const without = draw(900, { hidden: new Set(["before", "difference", "accumulated"]) });
  expect(rects(without, before, better, worse)).toEqual([]);
  expect(textsOf(without.shapes)).toContain("30 ns");
  expect(textsOf(draw().shapes)).toContain("100 ns");
  const nothing = new Set([
    "before",
    "after",
    "beforeSum",
    "afterSum",
    "difference",
    "accumulated",
  ]);
  expect(shapesOf(draw(900, { hidden: nothing }).shapes, "rect")).toEqual([]);
});

it("draws nothing infinite", () => {
  for (const items of [[], [{ label: "a", before: 0, after: 0 }], ITEMS])
    expect(JSON.stringify(draw(900, { items }))).not.toMatch(/null|NaN|Infinity/);
});

it("leaves room between turned labels, across their slope", () => {
  const items = Array.from({ length: 19 }, (_, at) => ({
    label: `part ${at}`,
    before: 1,
    after: 2,
  }));
  const turned = shapesOf(draw(290, { items }).shapes, "text").filter(({ turned = 0 }) => turned);
  expect(turned.length).toBeGreaterThan(2);
  for (const [at, { x, turned: degrees = 0 }] of turned.entries()) {
    const before = turned[at - 1];
    if (before)
      expect((x - before.x) * Math.sin((degrees * Math.PI) / 180)).toBeGreaterThanOrEqual(13);
  }
});
