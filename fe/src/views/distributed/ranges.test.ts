import { expect, it } from "vitest";
import { shown } from "./RangesOfRanks";

const column = (key: string, type: "string" | "number" = "number") => ({
  id: `rank_ranges.${key}`,
  key,
  label: key,
  type,
  unit: null,
  help: "",
});

it("keeps the order and the hidden columns of the server, says in words which time is far, and leaves out times nobody recorded", () => {
  const table = shown({
    columns: [
      column("name", "string"),
      column("calls"),
      column("device_ns"),
      column("far_time", "string"),
      { ...column("far_z"), hidden: true },
    ],
    rows: { calls: [4], device_ns: [null], far_time: ["host"], far_z: [9], name: ["forward"] },
  });
  expect(table.columns.map(({ key }) => key)).toEqual(["name", "calls", "far_time", "far_z"]);
  expect(table.columns.find(({ key }) => key === "far_z")?.hidden).toBe(true);
  expect(table.columns.find(({ key }) => key === "far_time")?.words).toHaveProperty("host");
});
