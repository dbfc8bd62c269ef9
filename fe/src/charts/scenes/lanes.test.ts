import { expect, it } from "vitest";
import { shapesOf, THEME, textsOf } from "../testTheme";
import type { LanesData } from "../types";
import { lanesHeight, lanesPicture } from "./lanes";

const mark = (start: number, end: number, label = "", low = false) => ({
  ...{ start, end, label, low },
  color: "#123456",
});
const DATA: LanesData = {
  start: 1_000_000,
  end: 11_000_000,
  lanes: [
    { label: "Phases", size: "thin", marks: [mark(1_000_000, 6_000_000, "Forward")] },
    { label: "Empty", size: "thin", marks: [] },
    {
      label: "GPU 0",
      size: "wide",
      marks: [mark(1_000_000, 3_500_000, "Idle", true), mark(3_500_000, 11_000_000, "matmuls")],
    },
  ],
  pins: [{ time: 6_000_000, label: "2" }],
};
const picture = lanesPicture(DATA, THEME, 1000);

it("draws marks to scale, gaps lower than work, and names where there is room", () => {
  const marks = shapesOf(picture.shapes, "rect").filter(({ fill }) => fill === "#123456");
  const [forward, idle, work] = marks;
  expect((work?.width ?? 0) / (forward?.width ?? 1)).toBeCloseTo(1.5);
  expect(idle?.height).toBeLessThan(work?.height ?? 0);
  expect((idle?.y ?? 0) + (idle?.height ?? 0)).toBe((work?.y ?? 0) + (work?.height ?? 0));
  const texts = textsOf(picture.shapes);
  expect(texts).toEqual(expect.arrayContaining(["Phases", "GPU 0", "Forward", "matmuls", "2"]));
  expect(texts).not.toContain("Idle");
  expect(texts).toEqual(expect.arrayContaining(["0 ms", "10 ms"]));
});

it("finds pins and marks where they are drawn, and nothing beside them", () => {
  expect(picture.marks.map((each) => picture.at(each?.x ?? 0, each?.y ?? 0))).toEqual([0, 1, 2, 3]);
  expect(picture.at(900, picture.marks[1]?.y ?? 0)).toBeNull();
  expect(picture.at(500, lanesHeight(DATA) - 2)).toBeNull();
});

it("leads keys along a lane and to the nearest mark of the next one that has any", () => {
  const { move } = picture;
  expect(move?.("ArrowRight", 2)).toBe(3);
  expect(move?.("ArrowRight", 3)).toBe(3);
  expect(move?.("Home", 3)).toBe(2);
  expect(move?.("ArrowDown", 0)).toBe(1);
  expect(move?.("ArrowDown", 1)).toBe(2);
  expect(move?.("ArrowUp", 3)).toBe(1);
  expect(move?.("x", 3)).toBeNull();
});
