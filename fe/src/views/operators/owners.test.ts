import { expect, test } from "vitest";
import { ownersTable } from "./owners";

const row = (owner: string, how: string, device_ns: number) => ({
  owner,
  how,
  name: owner,
  reason: null,
  launcher: "(cudaGraphLaunch)",
  calls: 2,
  device_ns,
});

test("Device work without an operator is shown by owner, with how it is known", () => {
  const { table, left } = ownersTable([
    row("graph replay of aten::mm", "graph_node", 50),
    { ...row("launched before the recording", "none", 7), name: null, reason: "before_recording" },
  ]);
  expect(table.rows).toEqual({
    owner: ["graph replay of aten::mm", "launched before the recording"],
    known: ["graph capture", "not known"],
    calls: [2, 2],
    device_ns: [50, 7],
  });
  expect(left).toBe(0);
});

test("Of many owners the first are shown and the others summed up", () => {
  const many = Array.from({ length: 53 }, (_, i) => row(`frame ${i}`, "frame", 100 - i));
  const { table, left, leftNs } = ownersTable(many);
  expect(table.rows.owner).toHaveLength(50);
  expect([left, leftNs]).toEqual([3, 50 + 49 + 48]);
});
