/** From the server's tracks and lanes to the tree that is shown: a thread is one leaf for each band it has. Pure. */
import type { TimelineMeta } from "../api";
import { count } from "../format";
import { KINDS } from "./kinds";
import type { TracksMeta } from "./kinds/renderer";
import { type Track, trackKey } from "./track";

interface TrackTexts {
  readonly idleThreads: (n: string) => string;
  /** Of the bands that stand beside the main one of a thread or stream. */
  readonly bands: Readonly<Record<string, string>>;
}

type DrawnTrack = TracksMeta["tracks"][number];

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
  const root = trackKey(worker, "");
  const { slices, instants } = meta.events;
  const found: Track[] = [
    { ...groupOf(worker, root, null), name: title, events: slices + instants },
    ...tracksOfTrace(worker, meta, texts),
  ];
  addKinds(found, worker, meta);
  // What has nothing in it would be a row that says nothing.
  const parents = new Set(found.map(({ parent }) => parent));
  return found.filter(
    ({ key: own, parent, isGroup }) => parent === null || parents.has(own) || !isGroup,
  );
}

/** Of the time of the busiest stream: what runs less is not where a rank computes. */
const MUCH = 0.1;

/** What stands for a rank in one look: its main thread, and the stream where it computes; "" where it has none. */
export function mainTracks(worker: string, { tracks }: TracksMeta): readonly [string, string] {
  const key = (of: DrawnTrack | undefined) => (of ? trackKey(worker, String(of.id)) : "");
  const streams = tracks.filter(({ kind }) => kind === "stream");
  const most = Math.max(0, ...streams.map(({ busy_ns: busy }) => busy));
  // Streams for communication come after it, and may be busy for longer: they wait.
  const stream = streams.find(({ busy_ns: busy }) => busy >= MUCH * most);
  return [key(tracks.find(({ role }) => role === "main")), key(stream)];
}

function groupOf(worker: string, key: string, parent: string | null) {
  return { key, worker, parent, kind: "group", isGroup: true, lanes: [] };
}

/** Processes, threads and streams. */
function tracksOfTrace(worker: string, { tracks, lanes }: TracksMeta, texts: TrackTexts): Track[] {
  const root = trackKey(worker, "");
  const bands = bandsOf(lanes);
  const leaves = (of: DrawnTrack, parent: string) =>
    leavesOf(of, bands.get(of.id) ?? [], worker, parent, texts);
  return tracks
    .filter(({ parent }) => parent === null)
    .flatMap((track) => {
      const children = tracks.filter(({ parent }) => parent === track.id);
      // A process without threads of its own has its slices on itself.
      if (children.length === 0) return leaves(track, root);
      const key = trackKey(worker, String(track.id));
      const idle = children.filter(({ role }) => role === "idle");
      const folded = idle.length > 1 ? idle : [];
      return [
        {
          ...groupOf(worker, key, root),
          name: track.name,
          events: track.slices + track.instants,
          // What the profiler says of itself.
          ...(track.kind === "other" ? { first: "folded" as const } : {}),
        },
        ...leaves(track, key),
        ...children.filter((child) => !folded.includes(child)).flatMap((each) => leaves(each, key)),
        {
          ...groupOf(worker, `${key}.idle`, key),
          name: texts.idleThreads(count(idle.length)),
          events: folded.reduce((sum, each) => sum + each.slices + each.instants, 0),
          first: "folded" as const,
        },
        ...folded.flatMap((each) => leaves(each, `${key}.idle`)),
      ];
    });
}

/** One for each band, the main one first. */
function leavesOf(
  { id, name, role }: DrawnTrack,
  bands: readonly Band[],
  worker: string,
  parent: string,
  texts: TrackTexts,
): Track[] {
  const key = trackKey(worker, String(id));
  const main = bands.find(({ band }) => MAIN.includes(band)) ?? bands[0];
  const ordered = main ? [main, ...bands.filter((other) => other !== main)] : [];
  return ordered.map((each) => ({
    key: each === main ? key : `${key}.${each.band}`,
    worker,
    parent,
    kind: "slices",
    isGroup: false,
    name: each === main ? name : `${texts.bands[each.band] ?? each.band} · ${name}`,
    lanes: each.lanes,
    events: each.slices,
    // One opens a trace to see it.
    ...(role === "main" && each.band === "host" ? { first: "open" as const } : {}),
  }));
}

/** Tracks that only their kinds know of, and the groups they ask for: each stands where the first of its tracks does. */
function addKinds(found: Track[], worker: string, meta: TracksMeta): void {
  const root = trackKey(worker, "");
  const key = (id: string | number) => trackKey(worker, String(id));
  const more = new Map<string, Track>();
  const rank = {
    meta,
    root,
    ofDevice: (device: number | null) => {
      const own = meta.tracks.findLast(
        (track) => device !== null && track.device === device && track.parent !== null,
      );
      return own ? key(own.parent ?? "") : root;
    },
    group: (id: string, parent: string, name: string, first: Track["first"]) => {
      more.set(key(id), { ...groupOf(worker, key(id), parent), name, first, events: 0 });
      return key(id);
    },
    key,
  };
  for (const [kind, { tracks }] of Object.entries(KINDS))
    for (const track of tracks?.(rank) ?? []) {
      const around = more.get(track.parent ?? "");
      if (around && more.delete(around.key)) found.push(around);
      found.push({ worker, kind, isGroup: false, lanes: [], events: 0, ...track });
    }
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
