import { describe, expect, it } from "vitest";
import { patternError, stepChoice } from "./steps";

describe("the choice of steps in the address", () => {
  it("is a rule or a pattern, the pattern first", () => {
    expect(stepChoice(null, null)).toEqual({ choice: {}, dropped: [] });
    expect(stepChoice("whole_trace", null).choice).toEqual({ steps: "whole_trace" });
    expect(stepChoice("whole_trace", "^decode").choice).toEqual({
      step_pattern: "^decode",
    });
  });

  it("is left out when it cannot be meant", () => {
    expect(stepChoice("moon", null)).toEqual({
      choice: {},
      dropped: [{ kind: "rule", value: "moon" }],
    });
    expect(stepChoice("whole_trace", "(")).toEqual({
      choice: {},
      dropped: [{ kind: "pattern", value: "(" }],
    });
  });
});

describe("patternError", () => {
  it("names what is wrong in any language", () => {
    expect(patternError("(")).toMatch(/group/i);
    for (const wrong of ["[a", "*a", "a)", "b{2,1}", "[z-a]"]) {
      expect(patternError(wrong), wrong).not.toBeNull();
    }
  });

  it("lets Python's own constructs through", () => {
    for (const right of [
      "^decode",
      "step\\[DECODE bs=\\d+\\]",
      "(?i)decode",
      "(?P<what>de|en)code(?P=what)?",
      "(?#a comment)x",
      "(?>ab)c",
      "a++b",
      "(?s-i:x)",
      "(a)?b(?(1)c|d)",
      "(?<!pre)fill",
    ]) {
      expect(patternError(right), right).toBeNull();
    }
  });
});
