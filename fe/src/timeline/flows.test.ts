import { expect, it } from "vitest";
import { colorsOf } from "./colors";
import { arrowsOf, paintArrows } from "./flows";

const camera = { window: { start: 1_000, end: 2_000 }, width: 100 };
const flow = (from: number, to: number) => ({
  kind: "launch",
  from: { time: from, y: 10 },
  to: { time: to, y: 50 },
});

it("keeps arrows of which a part can be in sight", () => {
  const arrows = arrowsOf(
    [flow(0, 500), flow(0, 1_500), flow(900, 9_000), flow(2_500, 2_600)],
    camera,
  );
  expect(arrows).toEqual([
    { kind: "launch", x0: -100, y0: 10, x1: 50, y1: 50 },
    { kind: "launch", x0: -10, y0: 10, x1: 800, y1: 50 },
  ]);
});

it("draws no more than can be told apart", () => {
  expect(arrowsOf(Array(10_000).fill(flow(1_200, 1_300)), camera)).toHaveLength(3_000);
});

it("never strikes through what is written near an arrow", () => {
  const done: unknown[][] = [];
  const context = new Proxy({} as Record<string, unknown>, {
    get: (_, name) =>
      name === "canvas"
        ? { width: 100, height: 90 }
        : (...args: unknown[]) => done.push([name, ...args]),
    set: () => true,
  }) as unknown as CanvasRenderingContext2D;
  const near = { x: 10, y: 30, width: 40, height: 12 };
  const far = { x: 10, y: 80, width: 40, height: 12 };
  const colors = colorsOf(() => "#336699", "sans");
  paintArrows(context, arrowsOf([flow(1_100, 1_500)], camera), colors, 0, [near, far]);
  const rects = done.filter(([name]) => name === "rect").map(([, ...box]) => box);
  expect(rects).toEqual([
    [0, 0, 100, 90],
    [10, 30, 40, 12],
  ]);
  const at = (name: string) => done.findIndex(([each]) => each === name);
  expect(done.find(([name]) => name === "clip")).toEqual(["clip", "evenodd"]);
  expect(at("clip")).toBeLessThan(at("stroke"));
  expect(at("restore")).toBeGreaterThan(at("stroke"));
});
