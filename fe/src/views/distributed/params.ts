/** The parameters of this view in the address. */
import { RANGE } from "../../charts/stackedColumns/range";
import { choice, name, param, table2Params, table3Params, tableParams } from "../../state/address";

export const params = {
  /** Name of the step; null for their average. */
  step: param("t", name),
  order: param("p", choice(["rank", "slowest"])),
  mode: param("c", choice(["absolute", "percent"])),
  /** Positions in that order. */
  range: param("x", RANGE),
  heat: param("m", choice(["duration_ns", "computation_ns", "communication_only_ns", "wait_ns"])),
  /** Whose operations; null: of the rank that is shown. */
  worker: param("d", name),
  group: param("g", name),
  /** Operations, ranks, devices. */
  ...tableParams("-latency_ns"),
  ...table2Params("-duration_ns"),
  ...table3Params("node,process,device"),
};
