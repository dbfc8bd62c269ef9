/** Which of the names does the pattern match? */
export interface PatternQuestion {
  readonly source: string;
  readonly names: readonly string[];
}

/** 1 for each name that has a match, or null: ready to be asked. */
export type PatternAnswer = Uint8Array | null;

/** What a worker has for its messages. */
export interface WorkerScope {
  onmessage: ((event: { readonly data: PatternQuestion }) => void) | null;
  postMessage(answer: PatternAnswer): void;
}

/**
 * Answers every question that comes to a worker. It must use nothing from outside: a report makes its worker of the
 * text of this function.
 */
export function servePatterns(scope: WorkerScope): void {
  scope.onmessage = ({ data: { source, names } }) => {
    const pattern = new RegExp(source, "i");
    scope.postMessage(Uint8Array.from(names, (name) => (pattern.test(name) ? 1 : 0)));
  };
  scope.postMessage(null);
}
