/** For tests. */
import { type FilterResult, namesToMatch } from "./filter";
import type { Rows } from "./model";
import { type PatternAnswer, servePatterns, type WorkerScope } from "./servePatterns";
import type { RowTest } from "./useFilter";

/** The filter with its regular expressions matched as the worker does it, here. */
export function foundAtOnce(parsed: FilterResult & { ok: true }, rows: Rows): RowTest {
  const found = parsed.patterns.map(({ column, source }) => {
    const names = namesToMatch(column, rows);
    const hits = answerTo(source, names);
    return new Set(names.filter((_, at) => hits?.[at] === 1));
  });
  return (some, row) => parsed.test(some, row, found);
}

function answerTo(source: string, names: readonly string[]): PatternAnswer {
  let answer: PatternAnswer = null;
  const scope: WorkerScope = {
    onmessage: null,
    postMessage: (message) => {
      answer = message;
    },
  };
  servePatterns(scope);
  scope.onmessage?.({ data: { source, names } });
  return answer;
}
