/** A thread, a stream, or a band of one: its lanes below each other, thin and without names when it is collapsed. */
import { drawLanes, hitLanes, PADDING } from "../lanes";
import { LaneTiles } from "../laneTiles";
import type { TrackRenderer } from "./renderer";

export const LANE = 18;
export const THIN_LANE = 5;

export const slices: TrackRenderer = {
  height: ({ track, collapsed }) =>
    track.lanes.length * (collapsed ? THIN_LANE : LANE) + 2 * PADDING,
  lanes: ({ track, collapsed }, y) => {
    const height = collapsed ? THIN_LANE : LANE;
    return track.lanes.map((lane, depth) => ({
      track: track.key,
      worker: track.worker,
      lane,
      y: y + PADDING + depth * height,
      height,
      labels: !collapsed,
    }));
  },
  source: LaneTiles,
  draw: drawLanes,
  hit: hitLanes,
};
