import { expect, it } from "vitest";
import { isCut } from "./tables";

it("knows the first page of a table from a whole one", () => {
  const columns = [{ key: "name" }];
  const rows = { name: ["a", "b"] };
  expect(isCut({ meta: { total: 3 }, columns, rows })).toBe(true);
  expect(isCut({ meta: { total: 2 }, columns, rows })).toBe(false);
  expect(isCut({ meta: {}, columns, rows })).toBe(false);
  expect(isCut({ meta: { total: 0 }, columns: [], rows: {} })).toBe(false);
});
