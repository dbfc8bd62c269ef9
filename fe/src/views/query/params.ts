/** The parameters of this view in the address. */
import { choice, param, tableParams, text } from "../../state/address";

export const params = {
  /** What is asked; empty for nothing yet. */
  statement: param("x", text()),
  /** Of the trace alone, or of all traces of its span. */
  of: param("m", choice(["trace", "span"])),
  ...tableParams(),
};
