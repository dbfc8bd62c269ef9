/** A rank, a process or a device: when it is collapsed, the outermost lane of each track in it. */
import { drawLanes, hitLanes, PADDING } from "../lanes";
import { LaneTiles } from "../laneTiles";
import { HEAD, type Track } from "../track";
import type { Shape, TrackRenderer } from "./renderer";

const LANE = 4;
const MOST_LANES = 12;
/** Of what is folded away: one line. */
const MOST_FOLDED = 4;

export const group: TrackRenderer = {
  height: (shape) => {
    const lanes = outermost(shape).length;
    return lanes === 0 ? HEAD : lanes * LANE + 2 * PADDING;
  },
  lanes: (shape, y) =>
    outermost(shape).map(({ key, worker, lanes }, at) => ({
      track: key,
      worker,
      lane: lanes[0] ?? 0,
      y: y + PADDING + at * LANE,
      height: LANE,
      labels: false,
    })),
  source: LaneTiles,
  draw: drawLanes,
  hit: hitLanes,
};

function outermost({ track, collapsed, leaves }: Shape): Track[] {
  if (!collapsed) return [];
  const most = track.first === "folded" ? MOST_FOLDED : MOST_LANES;
  return leaves.filter(({ lanes }) => lanes.length > 0).slice(0, most);
}
