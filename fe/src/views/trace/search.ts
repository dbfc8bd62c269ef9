/** The search over names: what it finds on the ranks shown, and going from hit to hit. */
import { useDeferredValue, useMemo } from "react";
import {
  type ApiError,
  type TimelineSearch,
  timelineSearch,
  useSearchOnce,
  useTimelineSearch,
} from "../../api";
import { useAddress } from "../../state";
import type { Density, Look, PickedSlice, RankTiles } from "../../timeline";
import { densityOfHits, type Hits, hitAt, mergeHits, placeAmong } from "./hits";
import { params } from "./params";
import { useTraceState } from "./useTraceModel";

export interface Search {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly regex: boolean;
  readonly setRegex: (regex: boolean) => void;
  readonly hits: Hits | null;
  readonly error: ApiError | null;
  /** The hit behind or before the selected slice; null when there is none. */
  readonly go: (by: -1 | 1) => Promise<PickedSlice | null>;
  /** The place of the selected slice among the hits, from 1; null when it is none of those that are known. */
  readonly position: number | null;
}

/** Hits that are known at once, of all ranks together. */
const KNOWN = 2_000;
const LEAST_KNOWN = 100;

function partsOf(answers: readonly TimelineSearch[], ranks: readonly RankTiles[]) {
  return answers.flatMap((answer, at) => {
    const rank = ranks[at];
    return rank ? [{ rank, answer }] : [];
  });
}

/** What is searched for, and what each rank says. */
function useAnswers() {
  const { ranks } = useTraceState();
  const [text, setText] = useAddress(params.search);
  const [mode, setMode] = useAddress(params.searchMode);
  const asked = useDeferredValue(text);
  const keys = useMemo(() => ranks.map(({ key }) => key), [ranks]);
  const each = Math.max(LEAST_KNOWN, Math.floor(KNOWN / Math.max(1, ranks.length)));
  const query = useTimelineSearch(keys, { q: asked, mode, hits: each });
  const answers = asked === "" ? null : (query.data ?? null);
  const parts = useMemo(() => partsOf(answers ?? [], ranks), [answers, ranks]);
  return { ranks, text, setText, mode, setMode, asked, keys, each, error: query.error, parts };
}

/** What of the picture is found: which names, and how many slices in each part of it. */
export function useFound(): { readonly found: Look["found"]; readonly density: Density | null } {
  const { mode, asked, parts } = useAnswers();
  const found = useMemo<Look["found"]>(() => {
    if (parts.length === 0) return null;
    const names = new Set(parts.flatMap(({ answer }) => answer.names.map(({ name }) => name)));
    const plain = mode === "regex" ? null : asked.toLowerCase();
    return (of, name) => {
      const own = of.text(name);
      // What is not known yet may be a hit.
      if (own === undefined) return true;
      return names.has(own) || (plain !== null && own.toLowerCase().includes(plain));
    };
  }, [parts, mode, asked]);
  const density = useMemo(() => densityOfHits(parts), [parts]);
  return { found, density };
}

export function useSearch(): Search {
  const { ranks, text, setText, mode, setMode, asked, keys, each, error, parts } = useAnswers();
  const selected = useTraceState().event.picked;
  const searchOnce = useSearchOnce();
  const hits = useMemo(() => (parts.length > 0 ? mergeHits(parts) : null), [parts]);
  const position = hits && selected ? placeAmong(hits, selected) : -1;

  /** Of what is in the field now, which may not be answered yet. */
  const hitsNow = async (): Promise<Hits | null> => {
    if (text === "" || (text === asked && hits)) return hits;
    return mergeHits(partsOf(await searchOnce(keys, { q: text, mode, hits: each }), ranks));
  };

  /** Of every rank the first hit behind a slice; of these the first. */
  const behind = async (slice: PickedSlice): Promise<PickedSlice | null> => {
    const own = ranks.findIndex(({ worker }) => worker === slice.worker);
    const firsts = await Promise.all(
      ranks.map(async (source, at) => {
        // Of equal times the ranks come in their order.
        const from = slice.start - source.offset + (at < own ? 1 : 0);
        const where = at === own ? { after: slice.row } : { from };
        const query = { q: text, mode, hits: 1, bins: 1, ...where } as const;
        return hitAt(source, await timelineSearch(source.key, query), 0);
      }),
    );
    return firsts.reduce(
      (best, hit) => (hit && (!best || hit.start < best.start) ? hit : best),
      null,
    );
  };

  const go = async (by: -1 | 1): Promise<PickedSlice | null> => {
    const found = await hitsNow().catch(() => null); // the error is shown beside the field
    if (!found || found.count === 0) return null;
    const { list, complete } = found;
    const place = selected ? placeAmong(found, selected) : -1;
    const next = list[place + by];
    if (place >= 0 && next && (next.start < complete || ranks.length === 1)) return next;
    if (selected && by > 0 && (place >= 0 || found.count > list.length)) return behind(selected);
    // From elsewhere: the first hit behind the selected slice, or the last one before it.
    const start = selected?.start ?? Number.NEGATIVE_INFINITY;
    const after = list.findIndex((hit) => hit.start > start);
    if (by > 0) return list[Math.max(after, 0)] ?? null;
    return list[(after < 0 ? list.length : after) - 1] ?? null;
  };
  return {
    text,
    setText,
    regex: mode === "regex",
    setRegex: (regex) => setMode(regex ? "regex" : "text"),
    hits,
    error,
    go,
    position: position >= 0 ? position + 1 : null,
  };
}
