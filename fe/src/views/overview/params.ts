/** The parameters of this view in the address. */
import { choice, list, param, text } from "../../state/address";

/** Among what is open: all numbers. */
export const ALL = "all";

export const params = {
  /** Rules whose findings are hidden. */
  mute: param("u", list),
  /** What is open: keys of findings, and ALL. */
  open: param("x", list),
  /** The part of the waterfall whose places are listed. */
  cause: param("f", text()),
  /** The category of which it is told what it is made of. */
  category: param("y", text()),
  mode: param("m", choice(["absolute", "percent"])),
};
