import { describe, expect, it } from "vitest";
import {
  bytes,
  columnFormat,
  count,
  duration,
  exact,
  fraction,
  inOneUnit,
  MISSING,
  parseDuration,
  percent,
  unbroken,
  value,
} from ".";

describe("duration", () => {
  it.each([
    [0, "0 ns"],
    [1, "1 ns"],
    [999, "999 ns"],
    [1000, "1 µs"],
    [12_345, "12.35 µs"],
    [999_999, "1 ms"],
    [1_000_000, "1 ms"],
    [177_592_000.5, "177.6 ms"],
    [999_999_999, "1 s"],
    [1_284_000_000, "1.284 s"],
    [12_345_678_900_000, "12,346 s"],
    [-1500, "−1.5 µs"],
    [0.25, "0.25 ns"],
  ])("%d ns is %s", (ns, text) => expect(duration(ns)).toBe(text));

  it("has no value for null and NaN", () => {
    expect(duration(null)).toBe(MISSING);
    expect(duration(Number.NaN)).toBe(MISSING);
  });

  it("keeps the decimals of a column", () => {
    const ms = columnFormat("ns", [20_000_000]);
    expect([1_500_000, 0, 10_000, -2_500_000].map(ms.text)).toEqual([
      "1.500",
      "0.000",
      "0.0100",
      "−2.500",
    ]);
    expect(columnFormat("ns", [], 2000).text(1_234_567)).toBe("1,234.6");
  });

  it("gives what is small beside the unit of its column three digits in that unit", () => {
    const seconds = inOneUnit("ns", [2_300_000_000, 2_123_000]);
    expect([2_300_000_000, 10_000_000, 2_123_000, -2_123_000, 300, 0].map(seconds)).toEqual([
      "2.300 s",
      "0.0100 s",
      "0.00212 s",
      "−0.00212 s",
      "<0.000001 s",
      "0.000 s",
    ]);
    expect(columnFormat("ns", [], 2000).text(940)).toBe("0.940");
    expect(columnFormat("ns", [], 900).text(3)).toBe("3");
    expect(columnFormat("ns", [null, 0])).toMatchObject({ symbol: null });
    expect(columnFormat("ns", [null, 0]).text(0)).toBe("0");
    expect(columnFormat("flop", [5e12]).text(3e9)).toBe("0.00300");
  });
});

describe("bytes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1,023 B"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [34_084_028_416, "31.74 GiB"],
  ])("%d bytes is %s", (n, text) => expect(bytes(n)).toBe(text));

  it("has a fixed unit for columns", () => {
    const mb = columnFormat("bytes", [1024 ** 2]);
    expect([1024 ** 2, 1, -1, 0].map(mb.text)).toEqual(["1.00", "<0.000001", ">−0.000001", "0.00"]);
  });

  it.each([
    [0, "0 B/s"],
    [999, "999 B/s"],
    [312_500_000_000, "312.5 GB/s"],
    [1.2e13, "12 TB/s"],
  ])("%d bytes per second is %s", (n, text) => expect(value(n, "bytes_per_second")).toBe(text));

  it("gives a column of rates one decimal unit", () => {
    const format = columnFormat("bytes_per_second", [2e9, 450e6, null]);
    expect(format.symbol).toBe("GB/s");
    expect(format.text(450e6)).toBe("0.450");
    expect(format.text(1e6)).toBe("0.00100");
    expect(format.text(null)).toBe(MISSING);
    expect(exact(1.5e9, "bytes_per_second")).toBe("1,500,000,000 bytes/s");
    expect(value(null, "bytes_per_second")).toBe(MISSING);
  });
});

describe("percent, fraction, count", () => {
  it("formats", () => {
    expect(percent(55.51)).toBe("55.5 %");
    expect(percent(0)).toBe("0.0 %");
    expect(percent(0.01)).toBe("<0.1 %");
    expect(fraction(0.5551)).toBe("55.5 %");
    expect(fraction(null)).toBe(MISSING);
    expect(count(1284)).toBe("1,284");
    expect(count(undefined)).toBe(MISSING);
  });
});

describe("by unit", () => {
  it("shows one value", () => {
    expect(value(1500, "ns")).toBe("1.5 µs");
    expect(value(2048, "bytes")).toBe("2 KiB");
    expect(value(3, null)).toBe("3");
  });

  it("shows the unrounded value", () => {
    expect(exact(177_592_000.5, "ns")).toBe("177,592,000.5 ns");
    expect(exact(0.5, "fraction")).toBe("50 %");
    expect(exact(null, "ns")).toBe(MISSING);
  });

  it("writes the numbers of a small table in one unit, which each has behind it", () => {
    const time = inOneUnit("ns", [9_089_000, 757_000, null]);
    expect([9_089_000, 757_000, 0, null].map(time)).toEqual([
      "9.089 ms",
      "0.757 ms",
      "0.000 ms",
      "–",
    ]);
    expect(inOneUnit("ns", [757_000], 20_000_000)(757_000)).toBe("0.757 ms");
    expect(inOneUnit("count", [3])(3)).toBe("3");
  });

  it("chooses one unit per column", () => {
    const format = columnFormat("ns", [1, 2_000_000, null, Number.NaN]);
    expect(format.symbol).toBe("ms");
    expect(format.text(2_000_000)).toBe("2.000");
    expect(columnFormat("percent", [100]).text(12.34)).toBe("12.3");
    expect(columnFormat(null, [5]).symbol).toBeNull();
    expect(columnFormat(null, [5, 7]).text(5)).toBe("5");
    expect(columnFormat(null, [5, 1.37]).text(5)).toBe("5.00");
    expect(columnFormat(null, [1.5]).text(0.001)).toBe("<0.01");
  });
});

describe("what a person types", () => {
  it("is a time, in the unit of the field when it names none", () => {
    expect(parseDuration("226.9", "ms")).toBe(226_900_000);
    expect(parseDuration(" 1,500 µs ", "ms")).toBe(1_500_000);
    expect(parseDuration("2US", "ms")).toBe(2000);
    expect(parseDuration(".5s", "ms")).toBe(500_000_000);
    for (const wrong of ["", "x", "1 m", "1 2", "5 MB", "--1"]) {
      expect(parseDuration(wrong, "ms"), wrong).toBeNull();
    }
  });
});

it("keeps numbers beside their units", () => {
  expect(unbroken("14.29 MiB was free for 3 ms, 2 Bytes, at 5 GB/s")).toBe(
    "14.29\u00a0MiB was free for 3\u00a0ms, 2 Bytes, at 5\u00a0GB/s",
  );
});
