/** The parameters of this view in the address. */
import { RANGE } from "../../charts/stackedColumns/range";
import {
  choice,
  name,
  param,
  table2Params,
  table3Params,
  tableParams,
  text,
} from "../../state/address";

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
  /** Operations, ranks, devices. */
  ...tableParams("-latency_ns"),
  ...table2Params("-late_ns"),
  ...table3Params("node,process,device"),
  /** Of the collectives. */
  filter4: param("q4", text()),
  sort4: param("o4", text("-wait_ns")),
  /** Of the ranges of the program; the one that is shown on each rank, and of that table. */
  filter5: param("q5", text()),
  sort5: param("o5", text("-host_ns")),
  named: param("f", name),
  filter6: param("q6", text()),
  sort6: param("o6", text("-difference_ns")),
};
