import { describe, expect, it } from "vitest";
import {
  clamped,
  fitted,
  panned,
  showing,
  snapped,
  span,
  timeAt,
  whole,
  xOf,
  zoomed,
} from "./camera";

const TRACE = { start: 0, end: 1_000_000 };
const camera = { window: { start: 200_000, end: 600_000 }, width: 1000 };

it("goes from times to pixels and back", () => {
  expect(xOf(camera, 200_000)).toBe(0);
  expect(xOf(camera, 600_000)).toBe(1000);
  expect(timeAt(camera, xOf(camera, 345_678))).toBeCloseTo(345_678, 6);
});

describe("zooming", () => {
  it("keeps what is under the pointer there", () => {
    for (const x of [0, 130, 500, 1000]) {
      const at = timeAt(camera, x);
      const window = zoomed(camera, 0.5, x, TRACE);
      expect(span(window)).toBeCloseTo(200_000, 6);
      expect(xOf({ window, width: 1000 }, at)).toBeCloseTo(x, 6);
    }
  });

  it("ends at the whole trace", () => {
    expect(zoomed(camera, 1e9, 400, TRACE)).toEqual(TRACE);
  });

  it("ends at ten nanoseconds, and stays where it is", () => {
    const narrow = zoomed(camera, 1e-9, 250, TRACE);
    expect(span(narrow)).toBeCloseTo(10, 9);
    const again = zoomed({ window: narrow, width: 1000 }, 0.1, 900, TRACE);
    expect(again.start).toBeCloseTo(narrow.start, 9);
  });

  it("in and out again is where it was", () => {
    const closer = zoomed(camera, 0.01, 700, TRACE);
    const back = zoomed({ window: closer, width: 1000 }, 100, 700, TRACE);
    expect(back.start).toBeCloseTo(camera.window.start, 3);
    expect(back.end).toBeCloseTo(camera.window.end, 3);
  });
});

it("moves, but not out of the trace", () => {
  expect(panned(camera, 100, TRACE)).toEqual({ start: 240_000, end: 640_000 });
  expect(panned(camera, -1e6, TRACE)).toEqual({ start: 0, end: 400_000 });
  expect(panned(camera, 1e6, TRACE)).toEqual({ start: 600_000, end: 1_000_000 });
});

it("is inside a trace that is shorter than the narrowest window", () => {
  expect(clamped({ start: -5, end: 50 }, { start: 0, end: 4 })).toEqual({ start: 0, end: 4 });
});

it("fits something with room around it, and an instant, too", () => {
  expect(fitted({ start: 400_000, end: 500_000 }, 0.5, TRACE)).toEqual({
    start: 350_000,
    end: 550_000,
  });
  const instant = fitted({ start: 7_000, end: 7_000 }, 1, TRACE);
  expect(instant.start).toBeLessThan(7_000);
  expect(instant.end).toBeGreaterThan(7_000);
});

describe("bringing something in sight", () => {
  it("leaves the window where it is in sight already", () => {
    const what = { start: 300_000, end: 310_000 };
    expect(showing(camera.window, what, TRACE)).toBe(camera.window);
  });

  it("moves without zooming, and zooms out only when it must", () => {
    const moved = showing(camera.window, { start: 700_000, end: 710_000 }, TRACE);
    expect(span(moved)).toBe(400_000);
    expect(moved.start).toBe(505_000);
    const wider = showing(camera.window, { start: 100_000, end: 900_000 }, TRACE);
    expect(wider.start).toBeLessThanOrEqual(100_000);
    expect(wider.end).toBeGreaterThanOrEqual(900_000);
  });
});

it("snaps to the nearest edge within reach", () => {
  expect(snapped(105, [100, 108, 300], 6)).toBe(108);
  expect(snapped(200, [100, 108, 300], 6)).toBe(200);
});

it("has whole ends in order", () => {
  expect(whole({ start: 9.2, end: 3.7 })).toEqual({ start: 3, end: 10 });
});
