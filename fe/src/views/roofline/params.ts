/** The parameters of this view in the address. */
import { choice, param, tableParams } from "../../state/address";

export const GROUPS = [
  "operator_shape",
  "operator",
  "kernel",
  "module",
  "line",
  "element",
  "phase",
] as const;

export const params = {
  group: param("g", choice(GROUPS)),
  ...tableParams("-lost_ns"),
};
