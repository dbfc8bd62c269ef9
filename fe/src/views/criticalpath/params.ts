/** The parameters of this view in the address. */
import { RANGE } from "../../charts/stackedColumns/range";
import { choice, furtherTableParams, name, param, tableParams, text } from "../../state/address";

export const params = {
  mode: param("m", choice(["absolute", "percent"])),
  /** Positions of the steps that the chart shows. */
  range: param("t", RANGE),
  /** Whose path is listed piece by piece. */
  step: param("n", name, { ofTraces: true }),
  /** What is listed of the path. */
  names: param("g", choice(["operators", "kernels", "functions", "modules"])),
  /** Of the what-if, as the server reads them; see `changes.ts`. */
  changes: param("w", text()),
  ...tableParams("-total_ns"),
  ...furtherTableParams(2, "pieces", "-duration_ns"),
};
