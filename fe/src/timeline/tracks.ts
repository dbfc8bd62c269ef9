/** From the server's tracks and lanes to the tree that is shown: a thread is one leaf for each band it has. Pure. */
import type { TimelineMeta } from "../api";
import { serverText } from "../i18n";
import type { Track, TrackKind } from "./layout";

export interface TrackTexts {
  /** Of the bands that stand beside the main one of a thread or stream. */
  readonly bands: Readonly<Record<string, string>>;
}

/** The band that is the thread or stream itself, so to say. */
const MAIN = ["host", "device"];

/** The worker's name, which may hold anything, then a colon that is not in it. */
export function trackKey(worker: string, id: string): string {
  const name = worker.replace(/[%:]/g, (sign) => (sign === "%" ? "%25" : "%3A"));
  return `${name}:${id}`;
}

/**
 * The tracks of one rank, parents first. `title`: what the rank is called. Counters stand below the process of their
 * device, those of no device below the rank.
 */
export function tracksOf(
  worker: string,
  title: string,
  {
    tracks,
    lanes,
    counters,
    events,
  }: Pick<TimelineMeta, "tracks" | "lanes" | "counters" | "events">,
  texts: TrackTexts,
): Track[] {
  const root = trackKey(worker, "");
  const found: Track[] = [
    {
      key: root,
      worker,
      parent: null,
      kind: "rank",
      name: title,
      lanes: [],
      events: events.slices + events.instants,
    },
  ];
  const bands = bandsOf(lanes);
  const key = (id: number) => trackKey(worker, String(id));
  const deviceOf = new Map<number, number>();
  for (const { parent, device } of tracks)
    if (parent !== null && device !== null) deviceOf.set(parent, device);
  const placed = new Set<string>();
  const addCounters = (parent: string, wanted: (device: number | null) => boolean) => {
    for (const counter of counters) {
      if (placed.has(counter.id) || !wanted(deviceNumber(counter.device))) continue;
      placed.add(counter.id);
      found.push({
        key: trackKey(worker, counter.id),
        worker,
        parent,
        kind: "counter",
        name: serverText(counter.name),
        lanes: [],
        events: 0,
      });
    }
  };
  const leaves = (id: number, parent: string, kind: TrackKind, name: string) => {
    const own = bands.get(id) ?? [];
    const main = own.find(({ band }) => MAIN.includes(band)) ?? own[0];
    for (const each of main ? [main, ...own.filter((other) => other !== main)] : []) {
      found.push({
        key: each === main ? key(id) : `${key(id)}.${each.band}`,
        worker,
        parent,
        kind,
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
      leaves(track.id, root, "thread", track.name);
      continue;
    }
    found.push({
      key: key(track.id),
      worker,
      parent: root,
      kind: device === null ? "process" : "device",
      name: track.name,
      lanes: [],
      events: track.slices + track.instants,
    });
    leaves(track.id, key(track.id), "thread", track.name);
    for (const child of children)
      leaves(child.id, key(track.id), child.kind === "stream" ? "stream" : "thread", child.name);
    if (device !== null) addCounters(key(track.id), (of) => of === device);
  }
  addCounters(root, () => true);
  // What has nothing in it would be a row that says nothing.
  const parents = new Set(found.map(({ parent }) => parent));
  return found.filter(
    ({ key: own, kind, lanes: numbers }) =>
      parents.has(own) || kind === "counter" || numbers.length > 0 || kind === "rank",
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

/** `GPU0`: 0. */
export function deviceNumber(device: string): number | null {
  const match = /(\d+)$/.exec(device);
  return match ? Number(match[1]) : null;
}

/** Lanes are asked for in these blocks, always the same, so that answers can be kept. */
const BLOCK = 48;

/** Of each lane the block it is in: whole leaves, next to each other, of at most 48 lanes unless a single one has more. */
export function blocksOf(tracks: readonly Track[]): number[][] {
  const blocks: number[][] = [];
  let open: number[] | null = null;
  for (const { kind, lanes } of tracks) {
    // A block does not reach from one process into the next: they are often collapsed or hidden.
    if (kind === "process" || kind === "device" || kind === "rank") open = null;
    if (lanes.length === 0) continue;
    if (!open || open.length + lanes.length > BLOCK) {
      open = [];
      blocks.push(open);
    }
    open.push(...lanes);
  }
  for (const block of blocks) block.sort((a, b) => a - b);
  return blocks;
}
