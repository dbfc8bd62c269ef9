/** The parameters of this view in the address. */
import { choice, param, tableParams } from "../../state/address";

export const params = {
  group: param("g", choice(["operator_shape", "operator", "kernel", "module", "line"])),
  ...tableParams("-lost_ns"),
};
