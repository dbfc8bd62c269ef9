/** The parameters of this view in the address. */
import { choice, name, oneOf, param, tableParams, text } from "../../state/address";
import { MOMENT, RANGE, TABS } from "./look";

export const params = {
  device: param("d", name),
  range: param("t", RANGE),
  /** The moment whose blocks are listed. */
  cursor: param("c", MOMENT),
  scale: param("x", choice(["zero", "fit"])),
  /** Lines of the curve; "" for the usual ones. */
  lines: param("m", text()),
  /** The table below; null for the usual one. All tables share filter and order. */
  tab: param("g", oneOf(TABS)),
  ...tableParams(),
};
