import { expect, it } from "vitest";
import { THEME } from "../testTheme";
import { type RooflineData, type RooflinePoint, rooflinePicture } from "./roofline";

const POINT: RooflinePoint = {
  intensity: 100,
  rate: 1e13,
  share: 0.5,
  weight: 0.2,
  color: "red",
  hollow: false,
};

function data(points: readonly RooflinePoint[]): RooflineData {
  return {
    points,
    roofs: [
      { kind: "rising", height: 1e12, label: "Memory" },
      { kind: "flat", height: 1e14, label: "fp16" },
    ],
    xLabel: "x",
    yLabel: "y",
    stripLabel: "strip",
    rateLabel: String,
  };
}

it("places points by their logarithms, under the roofs", () => {
  const { marks } = rooflinePicture(
    data([POINT, { ...POINT, intensity: 10 }, { ...POINT, intensity: 1000, rate: 1e14 }]),
    THEME,
    900,
  );
  const [middle, left, right] = marks;
  if (!middle || !left || !right) throw new Error("a point has no place");
  expect(middle.x - left.x).toBeCloseTo(right.x - middle.x, 6);
  expect(left.y).toBe(middle.y);
  expect(right.y).toBeLessThan(middle.y);
});

it("finds the smaller one of points that lie over each other", () => {
  const picture = rooflinePicture(
    data([
      { ...POINT, weight: 1 },
      { ...POINT, weight: 0 },
    ]),
    THEME,
    900,
  );
  const place = picture.marks[0];
  expect(picture.at(place?.x ?? 0, place?.y ?? 0)).toBe(1);
  expect(picture.at((place?.x ?? 0) + 12, place?.y ?? 0)).toBe(0);
  expect(picture.at(5, 5)).toBeNull();
});

it("puts what multiplies nothing beside, by its part of the roof, and leaves out what is not known", () => {
  const { marks } = rooflinePicture(
    data([
      POINT,
      { ...POINT, intensity: null, rate: null, share: 1 },
      { ...POINT, intensity: null, rate: null, share: 0.2 },
      { ...POINT, intensity: null, rate: null, share: null },
    ]),
    THEME,
    900,
  );
  expect(marks[3]).toBeNull();
  expect(marks[1]?.y ?? 0).toBeLessThan(marks[2]?.y ?? 0);
  expect(marks[1]?.x ?? 0).toBeGreaterThan(marks[0]?.x ?? 0);
});

it("draws no plane where neither a point nor a flat roof tells how much it reaches over", () => {
  const beside = { ...POINT, intensity: null, rate: null };
  const roofs = [{ kind: "rising", height: 1e12, label: "Memory" }] as const;
  const texts = (points: readonly RooflinePoint[]) =>
    rooflinePicture({ ...data(points), roofs }, THEME, 900).shapes.flatMap((shape) =>
      shape.kind === "text" ? [shape.text] : [],
    );
  expect(texts([beside])).toContain("strip");
  expect(texts([beside])).not.toContain("y");
  expect(texts([beside, POINT])).toContain("y");
});

it("keeps the name of the rising roof apart from names of what is reached", () => {
  const reached = { kind: "flat", height: 5e13, label: "fp16 reached", reached: true } as const;
  const name = (roofs: RooflineData["roofs"], text: string) => {
    const { shapes } = rooflinePicture({ ...data([POINT]), roofs }, THEME, 1200);
    const found = shapes.find((shape) => shape.kind === "text" && shape.text === text);
    if (found?.kind !== "text") throw new Error(`${text} is not there`);
    return found;
  };
  const { roofs } = data([]);
  expect(name(roofs, "Memory").x).not.toBe(name([...roofs, reached], "Memory").x);
  const apart = name([...roofs, reached], "Memory").y - name([...roofs, reached], "fp16 reached").y;
  expect(Math.abs(apart)).toBeGreaterThan(20);
});

it("draws without points and without roofs", () => {
  const picture = rooflinePicture({ ...data([]), roofs: [] }, THEME, 300);
  expect(picture.shapes.every((shape) => !JSON.stringify(shape).includes("null"))).toBe(true);
});

it("gives the strip all the room where nothing has a place in the plane", () => {
  const { shapes, marks } = rooflinePicture(
    {
      ...data([
        { ...POINT, intensity: null },
        { ...POINT, intensity: null },
      ]),
      roofs: [],
    },
    THEME,
    900,
  );
  const texts = shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));
  expect(texts).toContain("strip");
  expect(texts).not.toContain("x");
  expect(Math.abs((marks[1]?.x ?? 0) - (marks[0]?.x ?? 0))).toBeGreaterThan(300);
});
