/** The parameters of this view in the address. */
import { oneOf, param, tableParams, text } from "../../state/address";

export const params = {
  /** Null: the usual one of the view, or the only one that is recorded. */
  source: param("g", oneOf(["nn", "lightning"])),
  /** A metric that the trace has; else the first one. */
  metric: param("m", text()),
  /** Path of the module that is zoomed into. */
  zoom: param("f", text()),
  /** Which rows are open; see `table/expansion.ts`. */
  expansion: param("x", text()),
  ...tableParams(),
};
