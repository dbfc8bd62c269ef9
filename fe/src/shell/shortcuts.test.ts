import { describe, expect, it } from "vitest";
import { allViews } from "../state";
import { actionFor } from "./shortcuts";

describe("keys", () => {
  const press = (key: string, ctrlKey = false, jumping = false) =>
    actionFor({ key, ctrlKey, metaKey: false, altKey: false }, jumping);

  it("have a meaning only alone", () => {
    expect(press("2")).toEqual({ type: "view", view: "steps" });
    expect(press("2", true)).toBeNull();
    expect(press("?")).toEqual({ type: "help" });
    expect(press("Escape")).toEqual({ type: "clear" });
    expect(press("q")).toBeNull();
    expect(press("o")).toBeNull();
  });

  it("have a number or a letter of one view each, wherever it stands in the rail", () => {
    const viewOf = Object.fromEntries(allViews().map(({ digit, id }) => [digit, id]));
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => viewOf[digit])).toEqual(
      "overview steps operators kernels trace stacks criticalpath roofline memory".split(" "),
    );
    for (const which of ["digit", "key"] as const) {
      const given = allViews().flatMap((view) => view[which] ?? []);
      expect(new Set(given).size).toBe(given.length);
    }
  });

  it("go to a view by its letter after g", () => {
    expect(press("g")).toEqual({ type: "jump" });
    expect(press("o", false, true)).toEqual({ type: "view", view: "overview" });
    expect(press("V", false, true)).toEqual({ type: "view", view: "compare" });
    expect(press("o", true, true)).toBeNull();
    expect(press("?", false, true)).toEqual({ type: "help" });
  });

  it("open the palette together with Ctrl or Cmd", () => {
    expect(press("k", true)).toEqual({ type: "palette" });
    expect(actionFor({ key: "k", ctrlKey: false, metaKey: true, altKey: false })).toEqual({
      type: "palette",
    });
    expect(press("k")).toBeNull();
  });
});
