/** The parameters of this view in the address. */
import { RANGE } from "../../charts/stackedColumns/range";
import { choice, param, tableParams, text } from "../../state/address";

export const params = {
  mode: param("m", choice(["absolute", "percent"])),
  /** The category of which it is told what it is made of, in the step that is picked. */
  category: param("y", text()),
  order: param("c", choice(["time", "duration"])),
  /** Positions in that order. */
  range: param("t", RANGE),
  ...tableParams("start_ns"),
};
