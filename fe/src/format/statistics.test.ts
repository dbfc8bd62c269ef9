import { expect, it } from "vitest";
import { mean, median, medianDeviation, percentile } from ".";

it("interpolates between values", () => {
  const values = [40, 10, 30, 20];
  expect(percentile(values, 0.5)).toBe(25);
  expect(percentile(values, 0)).toBe(10);
  expect(percentile(values, 1)).toBe(40);
  expect(values).toEqual([40, 10, 30, 20]);
  expect(percentile([10, 20], 0.95)).toBeCloseTo(19.5);
  expect(percentile([], 0.5)).toBeNull();
});

it("is not moved by extreme values", () => {
  expect(median([1, 2, 3, 1000])).toBe(2.5);
  expect(medianDeviation([1, 2, 3, 4, 1000])).toBe(1);
  expect(medianDeviation([7])).toBe(0);
  expect(medianDeviation([])).toBeNull();
});

it("averages", () => {
  expect(mean([1, 2, 6])).toBe(3);
  expect(mean([])).toBeNull();
});
