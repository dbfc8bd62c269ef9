import { expect, it } from "vitest";
import { formatSelected, parseSelected, SELECTION_KINDS } from "./select";

it("reads back what it writes, colons and line breaks included", () => {
  for (const kind of SELECTION_KINDS) {
    for (const name of ["aten::conv2d", "void f<a:b>(int)\n", "op:x"]) {
      const selected = { kind, name };
      expect(parseSelected(formatSelected(selected))).toEqual(selected);
    }
  }
});

it("ignores what it does not know", () => {
  expect(parseSelected("slice:12")).toBeNull();
  expect(parseSelected("step:12")).toEqual({ kind: "step", name: "12" });
  expect(parseSelected("op:")).toBeNull();
  expect(parseSelected("op")).toBeNull();
  expect(parseSelected(null)).toBeNull();
});
