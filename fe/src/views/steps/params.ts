/** The parameters of this view in the address. */
import { RANGE } from "../../charts/stackedColumns/range";
import { choice, param, tableParams } from "../../state/address";

export const params = {
  mode: param("m", choice(["absolute", "percent"])),
  order: param("c", choice(["time", "duration"])),
  /** Positions in that order. */
  range: param("t", RANGE),
  ...tableParams("start_ns"),
};
