import { expect, it } from "vitest";
import type { RooflineTable } from "../../api";
import { flop } from "../../format";
import { rooflineTable, rowName } from "./columns";
import { legendOf, pointsOf, roofsOf } from "./points";

const ANSWER = {
  meta: {
    group_by: "operator",
    total_ns: 100,
    lost_ns: 40,
    devices: [
      {
        device: 0,
        name: "A",
        flops: { fp32: 1e13, bf16: 1e14 },
        bandwidth: 1e12,
        link: null,
        host: 16e9,
        tensor_cores: true,
        spread: 0,
        source: "data_sheet",
      },
    ],
  },
  columns: [{ key: "name", label: "Name", type: "string", unit: null, help: "", id: "" }],
  rows: {
    name: ["mm", "add", "conv", "index", "small"],
    element: ["bf16", null, "bf16", null, "bf16"],
    time_ns: [40, 30, 20, 5, 5],
    flops: [1e6, 0, 1e6, 0, 1e6],
    intensity: [100, null, 50, null, 2],
    flop_rate: [5e13, null, 1e12, null, 1e9],
    roof_share: [0.5, 0.9, 0.1, null, 0.2],
    tensor_cores: ["used", null, "alignment", null, null],
    below_wave: [0, 0, 1, 0, 0],
  },
} as unknown as RooflineTable;

it("shows what has a place, the longest first, in the colour of its tensor cores", () => {
  const points = pointsOf(ANSWER);
  expect(points.rows).toEqual([0, 1, 2, 4]);
  expect(points.kinds).toEqual(["used", "moves", "unused", "product"]);
  expect(points.data.points.map(({ hollow }) => hollow)).toEqual([false, false, true, false]);
  expect(points.data.points[0]?.weight).toBe(0.4);
  expect(legendOf(points).map(({ key }) => key)).toEqual([
    "used",
    "unused",
    "product",
    "moves",
    "wave",
  ]);
});

it("has roofs of memory, link and the types that are multiplied", () => {
  expect(roofsOf(ANSWER).map(({ kind, height }) => [kind, height])).toEqual([
    ["rising", 1e12],
    ["link", 16e9],
    ["flat", 1e14],
  ]);
  expect(roofsOf({ ...ANSWER, meta: { ...ANSWER.meta, devices: [] } })).toEqual([]);
});

it.each([
  [777_570_484_224, "777.6 GFLOP"],
  [12, "12 FLOP"],
  [null, "–"],
])("writes %s FLOP", (amount, text) => expect(flop(amount)).toBe(text));

it("names phases as the view Program does, and nothing else", () => {
  const byPhase = { ...ANSWER, meta: { ...ANSWER.meta, group_by: "phase" } };
  const words = (answer: RooflineTable) =>
    rooflineTable(answer).columns.find(({ key }) => key === "name")?.words;
  expect(words(byPhase)?.zero_grad).toBe("Zeroing gradients");
  expect(words(ANSWER)).toBeUndefined();
  expect(rowName("zero_grad", "phase")).toBe("Zeroing gradients");
  expect(rowName("forward", "operator")).toBe("forward");
});
