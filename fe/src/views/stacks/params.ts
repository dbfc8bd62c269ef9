/** The parameters of this view in the address. */
import { choice, oneOf, param, tableParams, text, whole } from "../../state/address";

export const params = {
  /** Null: the first that the trace has. */
  weight: param("m", oneOf(["host", "device"])),
  mode: param("g", choice(["top_down", "left_heavy", "bottom_up"])),
  show: param("c", choice(["flame", "table"])),
  /** Whether autograd nodes stand where they ran, or below the operator that they are the backward of. */
  backward: param("w", choice(["as_run", "with_forward"])),
  /** Id of the only thread that is shown; empty for all. */
  thread: param("t", text()),
  /** Part of the paths of files. */
  files: param("p", text()),
  /** Id of the entry that is zoomed into; 0 for everything. */
  zoom: param("f", whole(0)),
  /** Which rows are open; see `table/expansion.ts`. */
  expansion: param("x", text()),
  ...tableParams("-total_ns"),
};
