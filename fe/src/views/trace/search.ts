/** The search over names: what it finds, and going from hit to hit. */
import { useDeferredValue, useMemo } from "react";
import { type ApiError, type TimelineSearch, timelineSearch, useTimelineSearch } from "../../api";
import { useParam } from "../../state";
import type { Density, Look, Picked, Source } from "../../timeline";

export interface Search {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly regex: boolean;
  readonly setRegex: (regex: boolean) => void;
  readonly answer: TimelineSearch | null;
  readonly error: ApiError | null;
  readonly found: Look["found"];
  readonly density: Density | null;
  /** The hit behind or before the selected slice; null when there is none. */
  readonly go: (by: -1 | 1) => Promise<Picked | null>;
  /** The place of the selected slice among the hits, from 1; null when it is none of those that are known. */
  readonly position: number | null;
}

export function useSearch(source: Source | null, selected: Picked | null): Search {
  const [text, setText] = useParam<string>("q", "");
  const [mode, setMode] = useParam<"text" | "regex">("j", "text");
  const asked = useDeferredValue(text);
  const query = useTimelineSearch(source?.key ?? null, asked, mode === "regex" ? "regex" : "text");
  const answer = asked === "" ? null : (query.data ?? null);
  const found = useMemo<Look["found"]>(() => {
    if (!answer) return null;
    const names = new Set(answer.names.map(({ name }) => name));
    const plain = mode === "regex" ? null : asked.toLowerCase();
    return (of, name) => {
      const own = of.names.text(name);
      // What is not known yet may be a hit.
      if (own === undefined) return true;
      return names.has(own) || (plain !== null && own.toLowerCase().includes(plain));
    };
  }, [answer, mode, asked]);
  const density = useMemo<Density | null>(() => {
    if (!answer) return null;
    const { from_ns, to_ns, counts } = answer.density;
    const most = Math.max(1, ...counts);
    return {
      window: { start: from_ns, end: to_ns },
      values: counts.map((n) => n / most),
    };
  }, [answer]);
  const position = answer && selected ? answer.hits.row.indexOf(selected.row) : -1;

  const go = async (by: -1 | 1): Promise<Picked | null> => {
    if (!source || !answer || answer.count === 0) return null;
    const hitAt = ({ hits }: TimelineSearch, at: number): Picked | null => {
      const [row, lane] = [hits.row[at], hits.lane[at]];
      const [start, duration] = [hits.start_ns[at], hits.duration_ns[at]];
      if (row === undefined || lane === undefined || start === undefined || duration === undefined)
        return null;
      return { worker: source.worker, row, lane, start: start + source.offset, duration };
    };
    if (position >= 0) {
      const next = position + by;
      if (next >= 0 && next < answer.hits.row.length) return hitAt(answer, next);
    }
    if (selected && by > 0 && (position >= 0 || answer.count > answer.hits.row.length)) {
      const after = await timelineSearch(source.key, {
        q: asked,
        mode: mode === "regex" ? "regex" : "text",
        after: selected.row,
        hits: 1,
        bins: 1,
      });
      return hitAt(after, 0);
    }
    // From elsewhere: the first hit behind the selected slice, or the last one before it.
    const start = selected ? selected.start - source.offset : Number.NEGATIVE_INFINITY;
    const behind = answer.hits.start_ns.findIndex((time) => time > start);
    if (by > 0) return hitAt(answer, behind < 0 ? 0 : behind);
    return hitAt(answer, (behind < 0 ? answer.hits.row.length : behind) - 1);
  };
  return {
    text,
    setText,
    regex: mode === "regex",
    setRegex: (regex) => setMode(regex ? "regex" : "text"),
    answer,
    error: query.error,
    found,
    density,
    go,
    position: position >= 0 ? position + 1 : null,
  };
}
