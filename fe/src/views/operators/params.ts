/** The parameters of this view in the address. */
import { TOP } from "../../charts/topN";
import { choice, param, table2Params, tableParams, text } from "../../state/address";

export const params = {
  group: param("g", choice(["name", "name_shape", "name_stack"])),
  /** A metric that the trace has; else the first one. */
  metric: param("m", text()),
  chart: param("c", choice(["bars", "donuts"])),
  top: param("n", TOP),
  ...tableParams(),
  /** Calls of the device's API. */
  ...table2Params("-total_ns"),
};
