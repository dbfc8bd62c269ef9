import type { TrackRows } from "../../timeline";

/** Numbers of the lanes of all tracks of a rank that are shown, ascending. */
export function shownLanes({ rows }: TrackRows, worker: string): number[] {
  const found = new Set<number>();
  for (const { track, lanes } of rows) {
    if (track.worker !== worker) continue;
    for (const lane of track.lanes.length > 0 ? track.lanes : lanes.map((each) => each.lane))
      found.add(lane);
  }
  return [...found].sort((a, b) => a - b);
}
