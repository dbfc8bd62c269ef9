/** Memory snapshots of the processes that are shown: which are sure to be, and what of them is drawn and looked at. */
import { useCallback, useLayoutEffect, useMemo } from "react";
import type { Result } from "../../api";
import type { SnapshotLinkAnswer } from "../../api/schema.gen";
import { bestOf, partnersOf, useSnapshotLinks } from "../../api/snapshotLink";
import {
  type SnapshotDeviceKey,
  type SnapshotRecord,
  useSnapshotRecord,
  useSnapshotTracks,
} from "../../api/snapshotTracks";
import { useAddress, useTrace } from "../../state";
import {
  type LinkedSnapshot,
  type PickedRecord,
  type RankTiles,
  SnapshotSource,
  snapshotTracks,
  type Track,
} from "../../timeline";
import { params } from "./params";
import { formatRecord, parseRecord } from "./record";

type Link = SnapshotLinkAnswer["link"];

/** A snapshot that may be of the same process as a rank. */
export interface KnownSnapshot {
  readonly source: RankTiles;
  readonly worker: string;
  readonly span: string;
  readonly link: Link;
  /** Null while it is not known, and where it is not drawn. */
  readonly drawn: LinkedSnapshot | null;
}

export interface SnapshotsState {
  readonly tracks: readonly Track[];
  /** One of each rank that has any. */
  readonly known: readonly KnownSnapshot[];
  readonly record: {
    readonly wanted: PickedRecord | null;
    readonly source: RankTiles | null;
    readonly query: Result<SnapshotRecord>;
    /** ns of the rank; null while it is not known. */
    readonly time: number | null;
  };
  readonly pickRecord: (picked: PickedRecord | null) => void;
}

/** `tracks`: of all ranks without those. */
export function useSnapshots(
  sources: readonly RankTiles[],
  tracks: readonly Track[],
): SnapshotsState {
  const { run, sel } = useTrace();
  const pairs = useMemo(
    () =>
      sources.flatMap((source) => {
        const { worker, span } = source.key;
        const own = run?.traces.find((each) => each.worker === worker && each.span === span);
        return partnersOf(run, own ?? null).map((other) => ({
          source,
          trace: { run: source.key.run, worker, span },
          snapshot: { run: source.key.run, worker: other.worker, span: other.span },
        }));
      }),
    [sources, run],
  );
  const links = useSnapshotLinks(pairs);
  const best = sources.flatMap((source) => {
    const own = pairs.flatMap((pair, at) => {
      const answer = links[at]?.data;
      return answer && pair.source === source ? [{ ...pair, answer }] : [];
    });
    const waits = pairs.some((pair, at) => pair.source === source && links[at]?.isPending);
    const found = bestOf(own, !waits);
    return found ? [found] : [];
  });
  const linked = best.flatMap(({ source, snapshot, answer }) => {
    const { link, shift_ns: shift } = answer;
    if (link.device === null || shift === null) return [];
    const key: SnapshotDeviceKey = { ...snapshot, device: link.device };
    return [{ source, key, shift }];
  });
  const abouts = useSnapshotTracks(linked.map(({ key }) => key));
  // An answer never changes: what has come says all.
  const state = JSON.stringify(linked.map(({ key, shift }, at) => [key, shift, !abouts[at]?.data]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const drawn = useMemo(
    () =>
      new Map<RankTiles, LinkedSnapshot>(
        linked.flatMap(({ source, key, shift }, at) => {
          const about = abouts[at]?.data;
          return about ? [[source, { key, about, shift }] as const] : [];
        }),
      ),
    [sources, state],
  );
  const [text, setText] = useAddress(params.record);
  const page = sel?.worker ?? "";
  const wanted = useMemo(() => parseRecord(text, page), [text, page]);
  const source = sources.find(({ worker }) => worker === wanted?.worker) ?? null;
  const snapshot = (source && drawn.get(source)) ?? null;
  const query = useSnapshotRecord(snapshot?.key ?? null, wanted?.at ?? null);
  const own = query.isPlaceholderData ? null : (query.data?.time_ns ?? null);
  const time = own === null || !snapshot ? null : own + snapshot.shift;

  // Before the picture of these tracks is drawn. Like the ranks, they are no business of a render that is thrown away.
  useLayoutEffect(() => {
    for (const each of sources)
      each.source(SnapshotSource).show(drawn.get(each) ?? null, each === source ? time : null);
  }, [sources, drawn, source, time]);

  const all = useMemo(
    () => [
      ...tracks,
      ...[...drawn].flatMap(([each, of]) => snapshotTracks(each.worker, each.meta, of)),
    ],
    [tracks, drawn],
  );
  return {
    tracks: drawn.size === 0 ? tracks : all,
    known: best.map(({ source: each, snapshot: { worker, span }, answer }) => ({
      source: each,
      worker,
      span,
      link: answer.link,
      drawn: drawn.get(each) ?? null,
    })),
    record: { wanted: snapshot ? wanted : null, source, query, time },
    pickRecord: useCallback(
      (picked) => setText(picked ? formatRecord(picked, page) : ""),
      [setText, page],
    ),
  };
}
