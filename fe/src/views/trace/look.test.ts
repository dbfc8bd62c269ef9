import { describe, expect, it } from "vitest";
import { BOOKMARKS, EVENT, leastOf, MARK, stepAt } from "./look";

describe("the selected event", () => {
  it("is a number, on the rank that is shown or on another one", () => {
    expect(EVENT.parse("12")).toEqual({ type: "row", worker: null, row: 12 });
    for (const worker of ["rank1", "host~1", "1~2"])
      expect(EVENT.parse(`${worker}~12`)).toEqual({ type: "row", worker, row: 12 });
  });

  it("may be yet to be looked up by its name", () => {
    expect(EVENT.parse("longest:aten::mm")).toEqual({ type: "longest", name: "aten::mm" });
    expect(EVENT.parse("longest:a~12")).toEqual({ type: "longest", name: "a~12" });
  });

  it.each(["", "x", "-1", "1.5", "longest:", "rank1~", "99999999999"])("is none: %j", (text) =>
    expect(EVENT.parse(text)).toBeNull(),
  );
});

it("writes marks and reads them", () => {
  for (const kind of ["range", "measure"] as const) {
    const mark = { kind, window: { start: 5, end: 90 } };
    expect(MARK.parse(MARK.format(mark))).toEqual(mark);
  }
  expect(MARK.format(null)).toBe("");
  for (const text of ["", "m", "9-3", "x5-9"]) expect(MARK.parse(text)).toBeNull();
});

it("writes bookmarks in whole nanoseconds, and leaves out what is none", () => {
  expect(BOOKMARKS.format([{ start: 1.2, end: 8.9 }])).toBe("1-9");
  expect(BOOKMARKS.parse("1-9,x,20-30")).toEqual([
    { start: 1, end: 9 },
    { start: 20, end: 30 },
  ]);
});

it("reads the least duration in µs", () => {
  expect([leastOf("10"), leastOf("0,5"), leastOf("x"), leastOf("-3")]).toEqual([10_000, 500, 0, 0]);
});

it("knows the step in the middle of a window", () => {
  const starts = [100, 200, 300];
  expect(stepAt(starts, { start: 210, end: 240 })).toBe(1);
  expect(stepAt(starts, { start: 0, end: 50 })).toBe(-1);
  expect(stepAt(starts, { start: 900, end: 950 })).toBe(2);
});
