import { bare } from "../../i18n";
import type { PickedKind } from "../../state";
import type { PickedSlice, RankTiles } from "../../timeline";

/** What can be looked up by its name in another view, by its category. */
export const PICKABLE: Readonly<Record<string, PickedKind>> = bare({
  operator: "op",
  kernel: "kernel",
});

/** A slice as an answer of the server names it. */
export function pickedSlice(
  source: RankTiles,
  slice: { row: number; lane: number; start_ns: number; duration_ns: number },
): PickedSlice {
  return {
    worker: source.worker,
    row: slice.row,
    lane: slice.lane,
    start: slice.start_ns + source.offset,
    duration: slice.duration_ns,
  };
}
