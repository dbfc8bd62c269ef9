/** Tracks of a memory snapshot of the same process. Pure. */
import type { TimelineMeta } from "../api";
import type { CurveKind } from "../api/snapshotTracks";
import { timelineTexts } from "../i18n";
import { colorIndex } from "./colors";
import type { LinkedSnapshot } from "./snapshotTiles";
import { type Track, trackKey } from "./track";

const text = timelineTexts.snapshot;
/** Lines of the program that have a colour of their own; what is left has that of the last. */
const HUES = 8;
const REST_HUE = 10;
const STRONG = 2;

/** Of a rank, in a group below its device: calls of the allocator, then the curves that are known. */
export function snapshotTracks(
  worker: string,
  meta: Pick<TimelineMeta, "tracks">,
  { about, key }: LinkedSnapshot,
): Track[] {
  const root = trackKey(worker, "");
  const device = meta.tracks.find(
    (track) => track.device === about.device && track.parent !== null,
  )?.parent;
  const group = trackKey(worker, `snapshot:${about.device}`);
  const common = { worker, isGroup: false, lanes: [] };
  const own = (id: CurveKind | "calls", name: string, events: number): Track => ({
    ...common,
    key: `${group}:${id}`,
    parent: group,
    kind: "snapshot",
    name,
    events,
    part: id,
  });
  const calls = about.calls.reduce((sum, { count }) => sum + count, 0);
  return [
    {
      ...common,
      key: group,
      parent: device === undefined || device === null ? root : trackKey(worker, String(device)),
      kind: "group",
      isGroup: true,
      name: text.group(key.worker),
      events: calls,
      first: "open",
    },
    ...(about.start_ns === null ? [] : [own("calls", text.calls, calls)]),
    ...about.curves.map(({ kind }) => own(kind, text.curves[kind], 0)),
  ];
}

/** The place of the colour of a line of the program among the colours of a picture. */
export function lineColor(line: number): number {
  return colorIndex(line < HUES ? line : REST_HUE, STRONG, false);
}
