/** The parameters of this view in the address. */
import {
  choice,
  furtherTableParams,
  oneOf,
  param,
  tableParams,
  text,
  whole,
} from "../../state/address";

/** The path of the whole comparison. */
export const EVERYTHING = "0";

export const params = {
  howMany: param("x", choice(["two", "many"])),

  // Of two traces.
  /** Path of the part that is shown, of `/api/compare`. */
  part: param("p", text(EVERYTHING), { isStep: true, ofTraces: true }),
  measure: param("m", choice(["total_ns", "device_ns", "duration_ns"])),
  /** A cause of the waterfall: what has no part of it is left out. */
  cause: param("f", text(), { ofTraces: true }),
  order: param("g", choice(["each", "name"])),
  /** Null: as the numbers of steps suggest. */
  sum: param("c", oneOf(["all", "step"])),
  /** Of the parts, from 1. */
  page: param("n", whole(1)),

  // Of any number.
  scope: param("d", choice(["runs", "run", "all"])),
  what: param("a", choice(["operators", "kernels"])),
  /** A measure of `many.ts`; else its first one. */
  manyMeasure: param("h", text()),

  /** Of the parts, or of the traces where there are many. */
  ...tableParams(),
  /** Of operators, or of what many traces are compared by. */
  ...furtherTableParams(2, "names"),
  ...furtherTableParams(3, "kernelsOrTrends"),
  ...furtherTableParams(4, "rooflines"),
  ...furtherTableParams(5, "work"),
};
