import { describe, expect, it } from "vitest";
import { original, parseVisible, visible } from "./hidden";

/** What is hidden, and how it is shown. */
const SHOWN: readonly (readonly [name: string, shown: string])[] = [
  ["abc\u202e321", "abc\\u{202e}321"],
  ["\u2066isolated\u2069", "\\u{2066}isolated\\u{2069}"],
  [
    "zero\u200bwidth\ufeff\u00ad\u2060\u3164",
    "zero\\u{200b}width\\u{feff}\\u{ad}\\u{2060}\\u{3164}",
  ],
  ["nbsp\u00a0here\u2003", "nbsp\\u{a0}here\\u{2003}"],
  ["\x00\x1b[31m\x07\r\x7f\x9b", "\\u{0}\\u{1b}[31m\\u{7}\\u{d}\\u{7f}\\u{9b}"],
  ["line\u2028separator\u2029", "line\\u{2028}separator\\u{2029}"],
  ["\uffff\ufdd0\u{e0041}", "\\u{ffff}\\u{fdd0}\\u{e0041}"],
  ["written \\u{202e}", "written \\u{5c}u{202e}"],
  ["a\u200d\u{1f469}\u200d", "a\\u{200d}\u{1f469}\\u{200d}"],
];

describe("what is hidden in a name", () => {
  it.each(SHOWN)("%j is seen", (name, shown) => {
    expect(visible(name)).toBe(shown);
    expect(original(shown)).toBe(name);
    // Once only: an address may hold either.
    expect(visible(original(shown))).toBe(shown);
  });

  it("half a character is shown, and never sent: no address may hold it", () => {
    expect(visible("lone\ud800high")).toBe("lone\\u{d800}high");
    expect(original("lone\\u{d800}high")).toBe("lone\\u{d800}high");
    expect(() => encodeURIComponent(original(visible("\udfff\ud800")))).not.toThrow();
  });

  it.each([
    "aten::mm",
    "C:\\users\\u0041 \\u",
    "\u05e9\u05dc\u05d5\u05dd",
    "caf\u00e9 cafe\u0301",
    "\u77e9\u9635\u3000\u4e58",
    "\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u2764\ufe0f",
    "two\nlines\tand a tab",
    "\\u{41} \\u{110000}",
  ])("%j is as it is, but for the beginning of an escape", (name) => {
    expect(visible(name)).toBe(name.replaceAll("\\u{", "\\u{5c}u{"));
    expect(original(visible(name))).toBe(name);
  });

  it("is no more in an answer, neither in its values nor in its keys", () => {
    const value = { rows: { "a\u202e": ["b\u200b", 1, null, true] }, plain: "\u00e9" };
    const shown = { rows: { "a\\u{202e}": ["b\\u{200b}", 1, null, true] }, plain: "\u00e9" };
    expect(parseVisible(JSON.stringify(value))).toEqual(shown);
    expect(
      parseVisible('{"rows":{"a\\u202e":["b\\u200b",1,null,true]},"plain":"\\u00e9"}'),
    ).toEqual(shown);
    expect(Object.keys(parseVisible('{"__proto__":"\\u0000"}') as object)).toEqual(["__proto__"]);
  });
});
