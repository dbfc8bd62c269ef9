/** What the Trace view asks of a memory snapshot of the same process. */
import { useQueries } from "@tanstack/react-query";
import { get } from "./client";
import { type Result, useTraceQuery } from "./queries";
import type {
  SnapshotRecordAnswer,
  SnapshotTracksAnswer,
  SnapshotTracksTileAnswer,
} from "./schema.gen";
import type { TraceKey } from "./types";

export type SnapshotTracks = SnapshotTracksAnswer;
export type SnapshotColumns = SnapshotTracksTileAnswer;
export type SnapshotRecord = SnapshotRecordAnswer;
export type CurveKind = SnapshotTracks["curves"][number]["kind"];
export type AllocatorCall = SnapshotTracks["calls"][number]["call"];

/** One device of a snapshot. */
export interface SnapshotDeviceKey {
  readonly run: string;
  readonly worker: string;
  readonly span: string;
  readonly device: number;
}

/** Which record: by its number, or the last one at or before a time of the recording of the snapshot, ns. */
export type RecordAt =
  | { readonly type: "record"; readonly position: number }
  | { readonly type: "time"; readonly time: number };

/** What can be drawn of each; in the order of `keys`. */
export function useSnapshotTracks(keys: readonly SnapshotDeviceKey[]): Result<SnapshotTracks>[] {
  return useQueries({
    queries: keys.map(({ run, worker, span, device }) => ({
      queryKey: ["trace", run, worker, span, {}, "snapshot/tracks", { device }],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get("snapshot/tracks", { run, worker, span, device }, signal),
    })),
  }) as Result<SnapshotTracks>[];
}

/** So many columns of `width` ns from `start` on, in times of the recording of the snapshot. */
export function snapshotColumns(
  { run, worker, span, device }: SnapshotDeviceKey,
  window: { readonly start: number; readonly width: number; readonly columns: number },
  signal: AbortSignal,
): Promise<SnapshotColumns> {
  return get("snapshot/tracks/tile", { run, worker, span, device, ...window }, signal);
}

/** `at` is null while there is nothing to ask about. */
export function useSnapshotRecord(
  key: SnapshotDeviceKey | null,
  at: RecordAt | null,
): Result<SnapshotRecord> {
  const sel: TraceKey | null = key && at && { run: key.run, worker: key.worker, span: key.span };
  const asked = at?.type === "time" ? { time: at.time } : { at: at?.position };
  return useTraceQuery("snapshot/record", sel, { device: key?.device, ...asked });
}
