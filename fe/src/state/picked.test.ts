import { expect, it } from "vitest";
import { formatPicked, PICKED_KINDS, parsePicked } from "./picked";

it("reads back what it writes, colons and line breaks included", () => {
  for (const kind of PICKED_KINDS) {
    for (const name of ["aten::conv2d", "void f<a:b>(int)\n", "op:x"]) {
      const selected = { kind, name };
      expect(parsePicked(formatPicked(selected))).toEqual(selected);
    }
  }
});

it("ignores what it does not know", () => {
  expect(parsePicked("slice:12")).toBeNull();
  expect(parsePicked("step:12")).toEqual({ kind: "step", name: "12" });
  expect(parsePicked("op:")).toBeNull();
  expect(parsePicked("op")).toBeNull();
  expect(parsePicked(null)).toBeNull();
});
