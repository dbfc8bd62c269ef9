import { expect, it } from "vitest";
import { change, percentChange } from "./change";

it("writes a difference with its sign", () => {
  expect(change(1_200_000, "ns")).toBe("+1.2 ms");
  expect(change(-57, "percent")).toBe("−57.0 %");
  expect(change(0, "ns")).toBe("0 ns");
  expect(change(null, "ns")).toBe("–");
  expect(change(0.01, "percent")).toBe("<+0.1 %");
  expect(change(-0.01, "percent")).toBe(">−0.1 %");
});

it("has no percentage of nothing", () => {
  expect(percentChange(200, 150)).toBe(-25);
  expect(percentChange(200, 0)).toBe(-100);
  expect(percentChange(0, 5)).toBeNull();
  expect(percentChange(0, 0)).toBeNull();
  expect(percentChange(null, 5)).toBeNull();
  expect(percentChange(5, Number.NaN)).toBeNull();
});
