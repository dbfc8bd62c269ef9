/** Tracks of lanes that the server computes. Pure. */
import type { DerivedKind, DerivedMeta, TimelineMeta } from "../api";
import { partOf } from "./derivedTiles";
import { type Track, trackKey } from "./track";

/** Of a rank, in the order of its lanes. `names`: what kinds are called. */
export function derivedTracks(
  worker: string,
  meta: Pick<TimelineMeta, "tracks">,
  of: DerivedKind,
  about: DerivedMeta,
  names: Readonly<Record<DerivedKind, string>>,
): Track[] {
  const root = trackKey(worker, "");
  return about.lanes.map(({ device, pieces }) => {
    const part = partOf(of, device);
    const process = meta.tracks.find(
      (track) => track.device === device && track.parent !== null,
    )?.parent;
    const inside = device === null || process === undefined || process === null;
    return {
      key: trackKey(worker, part),
      worker,
      parent: inside ? root : trackKey(worker, String(process)),
      kind: "derived",
      isGroup: false,
      name: names[of],
      lanes: [],
      events: pieces,
      part,
    };
  });
}

/** The tracks of a rank with those that are computed first among their siblings. */
export function withDerived(tracks: readonly Track[], derived: readonly Track[]): Track[] {
  return tracks.flatMap((track) => [
    track,
    ...derived.filter(({ parent }) => parent === track.key),
  ]);
}
