import { expect, it } from "vitest";
import { histogramOf } from "./histogram";

const counts = ({ bin, from }: ReturnType<typeof histogramOf>) =>
  from.map((_, at) => bin.filter((each) => each === at).length);

it("has each step in the bin of its duration", () => {
  const durations = Array.from({ length: 100 }, (_, at) => 1_000 + 10 * at);
  const histogram = histogramOf(durations);
  expect(counts(histogram).reduce((a, b) => a + b)).toBe(100);
  for (const [at, ns] of durations.entries()) {
    const from = histogram.from[histogram.bin[at] ?? -1] ?? Number.NaN;
    expect([from <= ns, ns < from + histogram.width]).toEqual([true, true]);
  }
  expect(histogram.isOpen).toBe(false);
  expect(histogram.from.length).toBeLessThanOrEqual(41);
});

it("keeps the usual steps apart beside one that is far away", () => {
  const durations = [...Array.from({ length: 50 }, (_, at) => 1_000 + at), 1e9];
  const histogram = histogramOf(durations);
  expect(histogram.isOpen).toBe(true);
  expect(counts(histogram).at(-1)).toBe(1);
  expect(counts(histogram).filter((n) => n > 0).length).toBeGreaterThan(4);
});

it("has one bin of equal steps", () => {
  expect(histogramOf([7, 7, 7])).toMatchObject({ isOpen: false, bin: [0, 0, 0] });
});
