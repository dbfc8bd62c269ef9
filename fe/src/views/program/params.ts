/** The parameters of this view in the address. */
import { choice, param, tableParams, text } from "../../state/address";

export const params = {
  /** Which time of a phase is drawn. */
  time: param("m", choice(["exposed", "host", "device"])),
  /** The phase whose longest stretches are listed; empty for none. */
  phase: param("f", text()),
  /** The graph whose nodes are listed; empty for none. */
  graph: param("g", text()),
  /** The range whose calls are listed; empty for none. */
  range: param("c", text()),
  /** Which ranges are open; see `table/expansion.ts`. */
  expansion: param("x", text()),
  ...tableParams("-exposed_ns"),
};
