import { expect, it } from "vitest";
import { localRows, pagedRows, pagesOf } from "./rows";

const rows = { name: ["a", "b", "c"] };

it("gives rows that are here in an order", () => {
  const source = localRows(rows, [2, 0]);
  expect(source.length).toBe(2);
  expect(source.at(0)).toEqual({ rows, row: 2 });
  expect(source.at(2)).toBeNull();
  expect(source.keyAt(1)).toBe(0);
  expect(source.indexOf("name", "a")).toBe(1);
  expect(source.indexOf("name", "b")).toBe(-1);
});

it("gives rows of the pages that are here", () => {
  const second = { name: ["d", "e"] };
  const source = pagedRows("q", 1000, 3, (page) => [rows, second][page], [0, 1, 2]);
  expect(source.length).toBe(1000);
  expect(source.at(2)).toEqual({ rows, row: 2 });
  expect(source.at(4)).toEqual({ rows: second, row: 1 });
  expect(source.at(6)).toBeNull();
  expect(source.indexOf("name", "e")).toBe(4);
  expect(source.indexOf("name", "z")).toBe(-1);
  expect(source.keyAt(4)).toBe("q#4");
});

it("knows which pages hold some rows", () => {
  expect(pagesOf(0, 20, 200)).toEqual([0]);
  expect(pagesOf(190, 210, 200)).toEqual([0, 1]);
  expect(pagesOf(400, 400, 200)).toEqual([2]);
  expect(pagesOf(-5, -1, 200)).toEqual([0]);
});
