import { expect, it } from "vitest";
import { gapTable, nodeTable } from "./ReplayedGraphs";

const LONG = "void at::native::elementwise_kernel<128, 2, add_functor<float>>(int, f)";
const SHORT = "elementwise_kernel<add_functor<float>>";

const text = (key: string) => ({
  id: key,
  key,
  label: key,
  help: "",
  type: "string" as const,
  unit: null,
});

it("nodes of graphs have short names; the whole ones are kept", () => {
  const columns = ["owner", "name", "short_name"].map(text);
  const rows = { name: [LONG], short_name: [SHORT], owner: ["aten::add"], row: [1] };
  const table = nodeTable({ columns, rows });
  expect(table.columns.map(({ key }) => key)).toEqual(["owner", "name"]);
  expect(table.columns[1]?.brief?.(LONG)).toBe(SHORT);
  expect(table.rows.name).toEqual([LONG]);
});

it("nodes around gaps have short names", () => {
  const columns = ["after", "before", "short_after", "short_before"].map((key) => ({
    ...text(key),
    hidden: key.startsWith("short"),
  }));
  const rows = { after: [LONG], before: ["b"], short_after: [SHORT], short_before: ["b"] };
  const table = gapTable({ columns, rows });
  expect(table.columns.map(({ key }) => key)).toEqual(["after", "before"]);
  expect(table.columns[0]?.brief?.(LONG)).toBe(SHORT);
  expect(table.columns[1]?.brief?.("b")).toBe("b");
});
