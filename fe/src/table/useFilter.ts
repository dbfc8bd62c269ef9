import { useEffect, useMemo, useState } from "react";
import { type FilterProblem, type FilterResult, namesToMatch, parseFilter } from "./filter";
import { matchNames } from "./matchNames";
import type { Rows, Table } from "./model";

export type RowTest = (rows: Rows, row: number) => boolean;

/** The last filter that made sense. */
export interface ActiveFilter {
  /** Null when all rows pass. */
  readonly test: RowTest | null;
  /** The text that `test` is of. */
  readonly text: string;
  /** What is wrong with the text in the box, if something is. */
  readonly problem: FilterProblem | null;
  /** Whether the regular expressions of the text in the box are still being matched. */
  readonly pending: boolean;
}

/** What came of a text. `test` is null without a filter and where there is a problem. */
interface Outcome {
  readonly asked: FilterInput;
  readonly test: RowTest | null;
  readonly problem: FilterProblem | null;
}

interface FilterInput {
  readonly parsed: FilterResult;
  readonly text: string;
  readonly rows: Rows;
}

/**
 * The filter of a table. Regular expressions are matched in a worker, so a filter that has some becomes active later
 * than its text. `here`: false where the server filters, so that only what is wrong with the text is found here.
 */
export function useFilter(
  table: Table,
  filter: string,
  searchKey: string,
  here = true,
): ActiveFilter {
  const { columns, rows } = table;
  const asked = useMemo<FilterInput>(
    () => ({ parsed: parseFilter(filter, columns, searchKey), text: filter, rows }),
    [filter, columns, searchKey, rows],
  );
  const atOnce = useMemo(() => outcomeAtOnce(asked, here), [asked, here]);
  const [late, setLate] = useState<Outcome | null>(null);
  useEffect(() => {
    if (atOnce) return;
    const control = new AbortController();
    void matched(asked, control.signal).then((outcome) => {
      if (!control.signal.aborted) setLate(outcome);
    });
    return () => control.abort();
  }, [asked, atOnce]);
  const outcome = atOnce ?? (late?.asked === asked ? late : null);

  const [valid, setValid] = useState<Outcome | null>(null);
  if (outcome && !outcome.problem && outcome !== valid) setValid(outcome);
  if (outcome && !outcome.problem)
    return { test: outcome.test, text: filter, problem: null, pending: false };
  const kept = valid && isAbout(valid, rows) ? valid : null;
  return {
    test: kept?.test ?? null,
    text: kept?.asked.text ?? "",
    problem: outcome?.problem ?? null,
    pending: outcome === null,
  };
}

/** Regular expressions were matched with the names of some rows, and say nothing about others. */
function isAbout({ asked }: Outcome, rows: Rows): boolean {
  return asked.rows === rows || (asked.parsed.ok && asked.parsed.patterns.length === 0);
}

/** Null where regular expressions are to be matched first. */
function outcomeAtOnce(asked: FilterInput, here: boolean): Outcome | null {
  const { parsed } = asked;
  if (!parsed.ok) return { asked, test: null, problem: parsed.problem };
  if (here && parsed.patterns.length > 0) return null;
  const test: RowTest = (rows, row) => parsed.test(rows, row, []);
  return { asked, test: parsed.empty || !here ? null : test, problem: null };
}

async function matched(asked: FilterInput, signal: AbortSignal): Promise<Outcome> {
  const { parsed, rows } = asked;
  if (!parsed.ok) return { asked, test: null, problem: parsed.problem };
  const found: ReadonlySet<string>[] = [];
  for (const { column, source, token } of parsed.patterns) {
    try {
      found.push(await matchNames(source, namesToMatch(column, rows), signal));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return { asked, test: null, problem: { kind: "bad_regex", token, detail } };
    }
  }
  return { asked, test: (some, row) => parsed.test(some, row, found), problem: null };
}
