import { describe, expect, it } from "vitest";
import { marksApart } from "./stepMarks";

const camera = { window: { start: 0, end: 1000 }, width: 500 };

describe("marks of steps", () => {
  it("are all drawn where there is room, those of the window", () => {
    expect(marksApart([-50, 0, 40, 52, 180, 1001], camera)).toEqual([0, 40, 52, 180]);
    expect(marksApart([5], camera)).toEqual([5]);
    expect(marksApart([], camera)).toEqual([]);
  });

  it("are left out where steps lie closer than a mark tells, but not at both ends of a long one", () => {
    const dense = Array.from({ length: 100 }, (_, i) => i * 3);
    // nothing lies before the first and behind the last
    expect(marksApart(dense, camera)).toEqual([0, 297]);
    expect(marksApart([...dense, 400, 403], camera)).toEqual([0, 297, 400, 403]);
    expect(marksApart(dense, { ...camera, window: { start: 150, end: 160 } })).toEqual([
      150, 153, 156, 159,
    ]);
  });
});
