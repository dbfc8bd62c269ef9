import { reportMade } from "../api";
import { tableTexts } from "../i18n";
import { type PatternAnswer, type PatternQuestion, servePatterns } from "./servePatterns";

/** For all names of a column: as long as the server gives a pattern (`tables/query/pattern.py`). */
const MATCHING_MS = 2000;
/** For a worker to start, on a busy machine. */
const STARTING_MS = 10_000;

/**
 * Which of the names have a part that the pattern matches, in any case. `source` is one that `checkPattern` accepts.
 * Such patterns can run for years, so they run in a worker, which is ended after `MATCHING_MS` or when the signal
 * aborts. Where there can be no worker, only patterns that `isLinear` accepts are matched.
 * Rejects with an Error that says why nothing was matched.
 */
export async function matchNames(
  source: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const worker = await startWorker(signal);
  if (worker === null) return matchHere(source, names);
  try {
    const hits = await ask(worker, { source, names }, signal);
    return new Set(names.filter((_, at) => hits[at] === 1));
  } finally {
    worker.terminate();
  }
}

/**
 * Whether the time of a pattern grows only with its length and that of the names: it has no groups, whose alternatives
 * multiply, and no repetitions.
 */
export function isLinear(source: string): boolean {
  const plain = source.replace(/\\[\s\S]/g, "").replace(/\[[^\]]*\]/g, "");
  return !/[(*+?{]/.test(plain);
}

function matchHere(source: string, names: readonly string[]): ReadonlySet<string> {
  if (!isLinear(source)) throw new Error(tableTexts.pattern.noWorker);
  const pattern = new RegExp(source, "i");
  return new Set(names.filter((name) => pattern.test(name)));
}

/** A worker that is ready to be asked; null where there can be none. */
async function startWorker(signal: AbortSignal): Promise<Worker | null> {
  signal.throwIfAborted();
  if (typeof Worker === "undefined") return null;
  let worker: Worker;
  try {
    worker = createWorker();
  } catch {
    return null;
  }
  try {
    await answerOf(worker, STARTING_MS, signal);
    return worker;
  } catch {
    worker.terminate();
    signal.throwIfAborted();
    return null;
  }
}

/** A file of its own, which every content security policy of a host allows; a report has no files, but allows blobs. */
function createWorker(): Worker {
  if (reportMade() === null)
    return new Worker(new URL("./patternWorker.ts", import.meta.url), { type: "module" });
  const code = new Blob([`(${servePatterns})(self)`], { type: "text/javascript" });
  const url = URL.createObjectURL(code);
  try {
    return new Worker(url);
  } finally {
    // The worker has taken the address by now.
    URL.revokeObjectURL(url);
  }
}

async function ask(
  worker: Worker,
  question: PatternQuestion,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const answer = answerOf(worker, MATCHING_MS, signal);
  worker.postMessage(question);
  const hits = await answer;
  if (hits === null) throw new Error(tableTexts.pattern.tooSlow);
  return hits;
}

/** The next message of a worker. Rejects when the signal aborts, the worker fails, or the time is over. */
function answerOf(worker: Worker, ms: number, signal: AbortSignal): Promise<PatternAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(tableTexts.pattern.tooSlow)), ms);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      settle();
    };
    const abort = () => end(() => reject(signal.reason));
    signal.addEventListener("abort", abort);
    worker.onmessage = ({ data }: MessageEvent<PatternAnswer>) => end(() => resolve(data));
    worker.onerror = (event) => end(() => reject(new Error(event.message)));
  });
}
