import { expect, it } from "vitest";
import { withUnits } from "./Result";

it("a column that is shown in another unit is not named after its own", () => {
  const column = (key: string, unit: "ns" | "bytes" | null) => ({
    key,
    label: key,
    type: "number" as const,
    unit,
  });
  const columns = [column("total_ns", "ns"), column("bytes", "bytes"), column("mean_ns", null)];
  const table = withUnits({ columns, rows: {} });
  expect(table.columns.map(({ label }) => label)).toEqual(["total", "bytes", "mean_ns"]);
  expect(table.columns.map(({ key }) => key)).toEqual(["total_ns", "bytes", "mean_ns"]);
});
