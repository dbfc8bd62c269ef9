import { describe, expect, it } from "vitest";
import { formatExpansion, isOpen, parseExpansion, toggle } from "./expansion";

describe("which rows are open", () => {
  it("is as short as it can be in the address", () => {
    let state = parseExpansion("");
    expect(formatExpansion(state)).toBe("");
    state = toggle(toggle(state, 3), 2 ** 52);
    expect(formatExpansion(state)).toBe("~3.18ce53un18g");
    expect(parseExpansion(formatExpansion(state))).toEqual(state);
    expect(formatExpansion(toggle(state, 3))).toBe("~18ce53un18g");
    expect(formatExpansion(toggle(parseExpansion("all"), 35))).toBe("all~z");
  });

  it("is what is usual but for those changed by hand", () => {
    const usual = parseExpansion("~5");
    expect([isOpen(usual, 1, true), isOpen(usual, 1, false)]).toEqual([true, false]);
    expect([isOpen(usual, 5, true), isOpen(usual, 5, false)]).toEqual([false, true]);
    expect(isOpen(parseExpansion("all~5"), 4, false)).toBe(true);
    expect(isOpen(parseExpansion("all~5"), 5, true)).toBe(false);
    expect(isOpen(parseExpansion("none~5"), 5, true)).toBe(true);
  });

  it("takes any text", () => {
    for (const text of ["~", "x~<b>", "all~~", "~1e400.zzzzzzzzzzzzzzzzz", "none~-1"]) {
      const state = parseExpansion(text);
      for (const key of state.toggled) expect(Number.isSafeInteger(key)).toBe(true);
    }
  });
});
