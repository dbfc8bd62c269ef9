import { describe, expect, it } from "vitest";
import { contrast, parseColor } from "../draw";
import { categoryHues, colorIndex, colorsOf, DIM_FROM, hueOf } from "./colors";
import { SHADES } from "./raster";

const THEMES: Record<string, Record<string, string>> = {
  light: { "--surface": "#ffffff", "--text": "#1a1f26", "--accent": "#1d5fc4" },
  dark: { "--surface": "#161b22", "--text": "#e6e9ee", "--accent": "#7db2ff" },
};
const HUE: Record<string, string> = {
  "--series-1": "#0072b2",
  "--series-2": "#e69f00",
  "--series-5": "#56b4e9",
};

describe.each(Object.keys(THEMES))("in the %s theme", (theme) => {
  const property = (name: string) => THEMES[theme]?.[name] ?? HUE[name] ?? "#8a6fd1";
  const colors = colorsOf(property, "sans-serif");

  it("names can be read on every colour", () => {
    for (const color of colors.solid)
      expect(contrast(parseColor(color), parseColor(colors.text))).toBeGreaterThan(4.5);
  });

  it("a shade is between the page and the colour", () => {
    expect(colors.shades).toHaveLength(colors.solid.length * SHADES);
    const [red, green, blue] = parseColor(property("--surface"));
    const first = new Uint8Array(colors.shades.buffer, 0, 4);
    expect([...first]).toEqual([red, green, blue, 255]);
    const last = new Uint8Array(colors.shades.buffer, 4 * (SHADES - 1), 4);
    expect([...last.slice(0, 3)]).toEqual([...parseColor(colors.solid[0] ?? "")]);
  });
});

it("draws what is part of a step in the colour that the part has in all views", () => {
  const property = (name: string) => (name === "--part-communication" ? "#cc79a7" : "#336699");
  const [hue = 0] = categoryHues(["communication"]);
  const strong = parseColor(
    colorsOf((name) => THEMES.dark?.[name] ?? property(name), "sans").solid[3 * hue + 2] ?? "",
  );
  // Pink: red above blue above green.
  expect([strong[0] > strong[2], strong[2] > strong[1]]).toEqual([true, true]);
});

it("knows a hue for every category, also for those it does not know", () => {
  const [kernel, operator, unknown, other] = categoryHues([
    "kernel",
    "operator",
    "<b>new</b>",
    "other",
  ]);
  expect(kernel).not.toBe(operator);
  expect(unknown).toBe(other);
});

it("tells names of one hue apart, and dims them all to the same", () => {
  expect(new Set([0, 1, 2].map((name) => colorIndex(4, name, false))).size).toBe(3);
  expect(new Set([0, 1, 2].map((name) => colorIndex(4, name, true)))).toEqual(
    new Set([DIM_FROM + 4]),
  );
  for (const hashed of [0, 1, 2 ** 32 - 1]) expect(hueOf(hashed)).toBeLessThan(DIM_FROM / 3 - 1);
});
