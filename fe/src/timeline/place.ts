import type { RankTiles } from "./rankTiles";
import type { LaneRow, TrackRow, TrackRows } from "./track";

/** Where a lane stands on the page, pixels from the top of all rows; of the group around it when that is collapsed. */
export function placeOf(
  rows: TrackRows,
  source: RankTiles,
  lane: number,
): LaneRow | TrackRow | null {
  const key = source.trackOf(lane);
  if (key === undefined) return null;
  let leaf: TrackRow | null = null;
  for (let at: string | null = key; at !== null && !leaf; at = source.parentOf(at))
    leaf = rows.rows.find(({ track }) => track.key === at) ?? null;
  return leaf?.lanes.find((each) => each.track === key && each.lane === lane) ?? leaf;
}
