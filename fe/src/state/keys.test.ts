import { describe, expect, it } from "vitest";
import { applyPatch, isStep, viewParams, viewPatch } from "./keys";

describe("applyPatch", () => {
  it("removes what is null or empty and keeps keys it does not know", () => {
    expect(
      applyPatch({ v: "kernels", q: "conv", zz: "1" }, { q: "", v: null, g: "shape" }),
    ).toEqual({
      zz: "1",
      g: "shape",
    });
  });
});

describe("isStep", () => {
  it("is a step to change view, run, worker, span or range of steps", () => {
    expect(isStep({ v: null })).toBe(true);
    expect(isStep({ st: "5~7" })).toBe(true);
    expect(isStep({ r: "run" })).toBe(true);
    expect(isStep({ q: "conv", sel: "op:x" })).toBe(false);
  });
});

describe("changing the view", () => {
  it("puts aside what belongs to the view, and gives it back", () => {
    const operators = { v: "operators", r: "run", q: "conv", o: "-calls", zz: "1", sel: "op:x" };
    const aside = viewParams(operators);
    expect(aside).toEqual({ q: "conv", o: "-calls" });

    const overview = applyPatch(operators, viewPatch("overview", "overview", {}));
    expect(overview).toEqual({ r: "run", zz: "1", sel: "op:x" });
    expect(applyPatch(overview, viewPatch("operators", "overview", aside))).toEqual(operators);
  });
});
