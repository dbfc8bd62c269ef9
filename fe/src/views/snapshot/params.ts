/** The parameters of this view in the address. */
import { choice, name, param, tableParams, text } from "../../state/address";

export const params = {
  device: param("d", name),
  /** The moment that is looked at: a word or the number of a record. */
  at: param("c", text("peak")),
  /** The moment that is compared with. */
  since: param("u", name),
  /** The snapshot that is compared with: run, worker and span. */
  other: param("y", name),
  axis: param("x", choice(["time", "record"])),
  /** `start-end` on the axis; "" for everything. */
  range: param("t", text()),
  tab: param("g", choice(["line", "stack", "module", "annotation", "size", "flame", "lifetimes"])),
  /** In which direction stacks are seen. */
  direction: param("m", choice(["top_down", "bottom_up"])),
  frames: param("p", choice(["python", "own", "all"])),
  ...tableParams(),
};
