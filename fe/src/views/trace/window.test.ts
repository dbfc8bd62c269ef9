import { describe, expect, it } from "vitest";
import { fromMilliseconds, milliseconds, windowOf } from "./window";

describe("in the fields", () => {
  it("is in milliseconds, to the nanosecond", () => {
    expect(milliseconds(12_345_678)).toBe("12.345678");
    expect(fromMilliseconds("12.345678")).toBe(12_345_678);
    expect(fromMilliseconds(" 1,5 ")).toBe(1_500_000);
    for (const wrong of ["", "x", "-1", "1e3", "1.2.3"]) expect(fromMilliseconds(wrong)).toBeNull();
  });

  it("means the ends of the trace where a field is empty", () => {
    expect(windowOf("", "", 9e6)).toBeNull();
    expect(windowOf("2", "", 9e6)).toEqual({ start: 2e6, end: 9e6 });
    expect(windowOf(" ", "3", 9e6)).toEqual({ start: 0, end: 3e6 });
    expect(windowOf("5", "3", 9e6)).toBe("wrong");
    expect(windowOf("five", "", 9e6)).toBe("wrong");
  });
});
