import type { PickedSlice, RankTiles } from "../../timeline";

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
