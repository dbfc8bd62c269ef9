import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Column } from "./model";
import { toCsv, toJson, toTsv } from "./text";

const columns: Column[] = [
  { key: "name", label: "Name", type: "string", unit: null },
  { key: "ns", label: "Time", type: "number", unit: "ns" },
];
const rows = { name: ['say "hi", you', "=cmd()", "two\nlines\there"], ns: [1.5, -2, null] };

/** What the command line writes, too. */
const cells: { cell: string | number | boolean | null; csv: string }[] = JSON.parse(
  readFileSync("../tests/cases/csv_cells.json", "utf-8"),
);

describe("export", () => {
  it.each(cells)("writes the cell $cell", ({ cell, csv }) => {
    expect(toCsv(columns.slice(0, 1), { name: [cell] }, [0])).toBe(`name\n${csv}\n`);
  });

  it.each(["-2+3+cmd|' /C calc'!A0", "+1", "-", "@SUM(1)", "\t=1", "\n=1", "＝1", "-1-1", "-x"])(
    "keeps %j from being a formula",
    (name) => {
      const cell = toTsv(columns.slice(0, 1), { name: [name] }, [0]).split("\n")[1] ?? "";
      expect(cell.startsWith("'")).toBe(true);
      expect(toCsv(columns.slice(0, 1), { name: [name] }, [0])).toMatch(/\n"?'/);
    },
  );

  it.each(["-5", "-1.25", "aten::mm", "a=b"])("leaves %j as it is", (name) => {
    expect(toCsv(columns.slice(0, 1), { name: [name] }, [0])).toBe(`name\n${name}\n`);
  });

  it("writes CSV", () => {
    expect(toCsv(columns, rows, [0, 1])).toBe('name,ns\n"say ""hi"", you",1.5\n\'=cmd(),-2\n');
  });

  it("writes TSV of one line per row", () => {
    expect(toTsv(columns, rows, [2])).toBe("name\tns\ntwo lines here\t");
  });

  it("writes JSON with names as they are", () => {
    expect(JSON.parse(toJson(columns, rows, [1, 2]))).toEqual([
      { name: "=cmd()", ns: -2 },
      { name: "two\nlines\there", ns: null },
    ]);
  });

  it("keeps the order and the columns that are given", () => {
    expect(toCsv(columns.slice(1), rows, [2, 0])).toBe("ns\n\n1.5\n");
  });
});
