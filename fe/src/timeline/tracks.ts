/** From the server's tracks and lanes to the tree that is shown: a thread is one leaf for each band it has. Pure. */
import type { TimelineMeta } from "../api";
import { count } from "../format";
import { KINDS } from "./kinds";
import type { TracksMeta } from "./kinds/renderer";
import { type Track, trackKey } from "./track";

export interface TrackTexts {
  readonly idleThreads: (n: string) => string;
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
  const leaves = ({ id, name, role }: TracksMeta["tracks"][number], parent: string) => {
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
        // One opens a trace to see it.
        ...(role === "main" && each.band === "host" ? { first: "open" as const } : {}),
      });
    }
  };
  for (const track of tracks.filter(({ parent }) => parent === null)) {
    const children = tracks.filter(({ parent }) => parent === track.id);
    const device = deviceOf.get(track.id) ?? null;
    // A process without threads of its own has its slices on itself.
    if (children.length === 0) {
      leaves(track, root);
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
      // What the profiler says of itself.
      ...(track.kind === "other" ? { first: "folded" as const } : {}),
    });
    leaves(track, key(track.id));
    const idle = children.filter(({ role }) => role === "idle");
    const isFolded = idle.length > 1;
    for (const child of children)
      if (!isFolded || child.role !== "idle") leaves(child, key(track.id));
    if (isFolded) {
      const folded = `${key(track.id)}.idle`;
      found.push({
        key: folded,
        worker,
        parent: key(track.id),
        kind: "group",
        isGroup: true,
        name: texts.idleThreads(count(idle.length)),
        lanes: [],
        events: idle.reduce((sum, each) => sum + each.slices + each.instants, 0),
        first: "folded",
      });
      for (const child of idle) leaves(child, folded);
    }
    if (device !== null) groups.set(device, key(track.id));
  }
  /** Groups that a kind of tracks asks for; each stands where the first of them does. */
  const more = new Map<string, Track>();
  const rank = {
    meta,
    root,
    ofDevice: (device: number | null) => (device === null ? root : (groups.get(device) ?? root)),
    group: (id: string, parent: string, name: string, first: Track["first"]) => {
      const made = trackKey(worker, id);
      more.set(made, {
        ...{ key: made, worker, parent, kind: "group", isGroup: true, name, first },
        ...{ lanes: [], events: 0 },
      });
      return made;
    },
    key: (id: string) => trackKey(worker, id),
  };
  for (const [kind, { tracks: own }] of Object.entries(KINDS))
    for (const track of own?.(rank) ?? []) {
      const around = more.get(track.parent ?? "");
      if (around && more.delete(around.key)) found.push(around);
      found.push({ worker, kind, isGroup: false, lanes: [], events: 0, ...track });
    }
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
