/** The selected event: from the address to what the server knows of it, and into sight. */
import { type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import { type Result, type SliceDetails, timelineSearch, useTimelineSlice } from "../../api";
import { useParam } from "../../state";
import {
  type PickedSlice,
  placeOf,
  type RankTiles,
  type Stage,
  type TrackRows,
} from "../../timeline";
import { formatEvent, parseEvent } from "./look";
import { pickedSlice } from "./pickedSlice";

export interface EventState {
  readonly source: RankTiles | null;
  readonly query: Result<SliceDetails>;
  /** Null while another slice was selected before. */
  readonly details: SliceDetails | null;
  readonly picked: PickedSlice | null;
  readonly wanted: boolean;
  /** `inSight`: it was clicked on, so the picture stays where it is. */
  readonly pick: (picked: PickedSlice | null, inSight?: boolean) => void;
}

/** Around a slice that a link leads to. */
const MARGIN = 3;

export function useEvent(
  sources: readonly RankTiles[],
  rows: TrackRows,
  stage: RefObject<Stage | null>,
): EventState {
  const [written, setWritten] = useParam<string>("e", "");
  const [window] = useParam<string>("t", "");
  const [, setSearch] = useParam<string>("q", "");
  const main = sources[0] ?? null;
  const wanted = useMemo(() => parseEvent(written), [written]);
  const source =
    wanted?.type === "row"
      ? (sources.find(({ worker }) => worker === (wanted.worker ?? main?.worker)) ?? null)
      : null;
  const row = wanted?.type === "row" ? wanted.row : null;
  const query = useTimelineSlice(source?.key ?? null, row);
  const details = query.data && query.data.row === row ? query.data : null;
  const clicked = useRef<PickedSlice | null>(null);
  const seen = useRef("");
  const atOnce =
    clicked.current && clicked.current.row === row && clicked.current.worker === source?.worker
      ? clicked.current
      : null;
  const picked = useMemo(
    () => (source && details ? pickedSlice(source, details) : atOnce),
    [source, details, atOnce],
  );

  const pick = useCallback(
    (next: PickedSlice | null, inSight = false) => {
      clicked.current = next && next.lane >= 0 ? next : null;
      const text = next
        ? formatEvent(next.worker === main?.worker ? null : next.worker, next.row)
        : "";
      if (inSight) seen.current = text;
      setWritten(text);
    },
    [main, setWritten],
  );

  // A name's longest slice is looked up once; from then on the address has its number.
  const name = wanted?.type === "longest" ? wanted.name : null;
  useEffect(() => {
    if (name === null || !main) return;
    const controller = new AbortController();
    timelineSearch(
      main.key,
      { q: name.slice(0, 1_000), case: "match", hits: 1, bins: 1 },
      controller.signal,
    ).then(
      ({ names }) => {
        const found = names.find((each) => each.name === name) ?? names[0];
        if (found) setWritten(String(found.longest_row));
        else {
          setWritten("");
          setSearch(name);
        }
      },
      () => undefined,
    );
    return () => controller.abort();
  }, [name, main, setWritten, setSearch]);

  // After opening a link it must be brought into sight; after a click it is.
  useEffect(() => {
    if (!source || !details || seen.current === written || !stage.current) return;
    seen.current = written;
    const now = pickedSlice(source, details);
    if (window === "")
      stage.current.fit({ start: now.start, end: now.start + now.duration }, MARGIN);
    stage.current.reveal(now, placeOf(rows, source, now.lane));
  });

  return { source, query, details, picked, wanted: row !== null, pick };
}
