/** From the server's tracks and lanes to the tree that is shown: a thread is one leaf for each band it has. Pure. */
import type { TimelineMeta } from "../api";
import { KINDS } from "./kinds";
import type { TracksMeta } from "./kinds/renderer";
import { type Track, trackKey } from "./track";

export interface TrackTexts {
  /** Of the bands that stand beside the main one of a thread or stream. */
  readonly bands: Readonly<Record<string, string>>;
}

/** The band that is the thread or stream itself, so to say. */
const MAIN = ["host", "device"];

/**
 * The tracks of one rank, parents first. `title`: what the rank is called. The groups and the lanes of slices come from
 * the tracks of the trace; each kind adds the tracks that only it knows of.
 */
export function tracksOf(
  worker: string,
  title: string,
  meta: TracksMeta,
  texts: TrackTexts,
): Track[] {
  const { tracks, lanes, events } = meta;
  const root = trackKey(worker, "");
  const found: Track[] = [
    {
      key: root,
      worker,
      parent: null,
      kind: "group",
      isGroup: true,
      name: title,
      lanes: [],
      events: events.slices + events.instants,
    },
  ];
  const bands = bandsOf(lanes);
  const key = (id: number) => trackKey(worker, String(id));
  const groups = new Map<number, string>();
  const deviceOf = new Map<number, number>();
  for (const { parent, device } of tracks)
    if (parent !== null && device !== null) deviceOf.set(parent, device);
  const leaves = (id: number, parent: string, name: string) => {
    const own = bands.get(id) ?? [];
    const main = own.find(({ band }) => MAIN.includes(band)) ?? own[0];
    for (const each of main ? [main, ...own.filter((other) => other !== main)] : []) {
      found.push({
        key: each === main ? key(id) : `${key(id)}.${each.band}`,
        worker,
        parent,
        kind: "slices",
        isGroup: false,
        name: each === main ? name : `${texts.bands[each.band] ?? each.band} · ${name}`,
        lanes: each.lanes,
        events: each.slices,
      });
    }
  };
  for (const track of tracks.filter(({ parent }) => parent === null)) {
    const children = tracks.filter(({ parent }) => parent === track.id);
    const device = deviceOf.get(track.id) ?? null;
    // A process without threads of its own has its slices on itself.
    if (children.length === 0) {
      leaves(track.id, root, track.name);
      continue;
    }
    found.push({
      key: key(track.id),
      worker,
      parent: root,
      kind: "group",
      isGroup: true,
      name: track.name,
      lanes: [],
      events: track.slices + track.instants,
    });
    leaves(track.id, key(track.id), track.name);
    for (const child of children) leaves(child.id, key(track.id), child.name);
    if (device !== null) groups.set(device, key(track.id));
  }
  const rank = {
    meta,
    root,
    ofDevice: (device: number | null) => (device === null ? root : (groups.get(device) ?? root)),
    key: (id: string) => trackKey(worker, id),
  };
  for (const [kind, { tracks: more }] of Object.entries(KINDS))
    for (const track of more?.(rank) ?? [])
      found.push({ worker, kind, isGroup: false, lanes: [], events: 0, ...track });
  // What has nothing in it would be a row that says nothing.
  const parents = new Set(found.map(({ parent }) => parent));
  return found.filter(
    ({ key: own, parent, isGroup }) => parent === null || parents.has(own) || !isGroup,
  );
}

interface Band {
  readonly band: string;
  readonly lanes: number[];
  slices: number;
}

function bandsOf({ track, band, slices }: TimelineMeta["lanes"]): Map<number, Band[]> {
  const found = new Map<number, Band[]>();
  for (const [lane, id] of track.entries()) {
    let own = found.get(id);
    if (!own) {
      own = [];
      found.set(id, own);
    }
    const name = band[lane] ?? "";
    let into = own.find((each) => each.band === name);
    if (!into) {
      into = { band: name, lanes: [], slices: 0 };
      own.push(into);
    }
    into.lanes.push(lane);
    into.slices += slices[lane] ?? 0;
  }
  return found;
}
