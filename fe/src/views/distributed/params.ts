/** The parameters of this view in the address. */
import { RANGE } from "../../charts/stackedColumns/range";
import { choice, furtherTableParams, name, param, tableParams, text } from "../../state/address";

export const params = {
  /** Name of the step; null for their average. */
  step: param("t", name),
  order: param("p", choice(["rank", "slowest"])),
  mode: param("c", choice(["absolute", "percent"])),
  /** Positions in that order. */
  range: param("x", RANGE),
  /** A metric, as `metricOf` reads it: what there is to read is no part of the first load. */
  heat: param("m", text()),
  heatOrder: param("h", choice(["rank", "node", "value"])),
  /** Whose operations; null: of the rank that is shown. */
  worker: param("d", name),
  group: param("g", name),
  /** Of the operations. */
  ...tableParams("-latency_ns"),
  ...furtherTableParams(2, "ranks", "-late_ns"),
  ...furtherTableParams(3, "devices", "node,process,device"),
  ...furtherTableParams(4, "collectives", "-wait_ns"),
  ...furtherTableParams(5, "ranges", "-host_ns"),
  /** The range of the program that is shown on each rank. */
  named: param("f", name),
  ...furtherTableParams(6, "rangeRanks", "-difference_ns"),
};
