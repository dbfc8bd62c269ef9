/** The one place that fetches. Nothing here knows React. */
import { original, parseVisible } from "../format";
import { reasonText, t, type Values } from "../i18n";
import { fromReport, NOT_IN_REPORT } from "./report";
import type { Answers } from "./schema.gen";
import type { TraceState } from "./types";

let base = "";

/** All requests are relative to this; set once at start-up from the URL of `index.js`. */
export function setBase(url: URL): void {
  base = url.href;
}

export type Query = Record<string, string | number | null | undefined>;

/** The request as a person would type it; shown next to errors. */
export function requestPath(route: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) search.set(key, original(String(value)));
  }
  const text = search.toString();
  return text ? `api/${route}?${text}` : `api/${route}`;
}

/** For links and downloads. */
export function addressOf(path: string): string {
  return new URL(path, base).href;
}

/**
 * What went wrong with a request.
 *
 * `status` is the HTTP status, or 0 when there was no answer at all.
 */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    readonly status: number,
    message: string,
    readonly path: string,
    /** Of a trace that is still loading (409). */
    readonly state: TraceState | null = null,
    /** How far it is, 0…1, when the server says. */
    readonly progress: number | null = null,
  ) {
    super(message);
  }

  /** Not a fault: the trace is still being read. */
  get loading(): boolean {
    return this.status === 409;
  }

  /** Not a fault either: a report has the answers that views begin with, and no others. */
  get notInReport(): boolean {
    return this.status === NOT_IN_REPORT;
  }

  /** Asking again at once may help: no answer came, or only that of a gateway on the way. */
  get transient(): boolean {
    return this.status === 0 || (this.status >= 502 && this.status <= 504);
  }
}

/** Routes below `/api/` that answer with JSON. */
export type Route = keyof Answers;

export async function get<R extends Route>(
  route: R,
  query: Query = {},
  signal?: AbortSignal,
): Promise<Answers[R]> {
  const path = requestPath(route, query);
  const response = await ask(path, "application/json", signal);
  const body = await readJson(response);
  if (!response.ok) throw errorFrom(response.status, body, path);
  if (body === undefined) {
    throw new ApiError(response.status, t.request.notJson, path);
  }
  return body as Answers[R];
}

/** An answer that is no JSON; errors are. */
export async function getBinary(
  route: string,
  query: Query,
  signal?: AbortSignal,
): Promise<ArrayBuffer> {
  const path = requestPath(route, query);
  const response = await ask(path, "application/octet-stream", signal);
  if (!response.ok) throw errorFrom(response.status, await readJson(response), path);
  return response.arrayBuffer();
}

async function ask(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
  const kept = fromReport(path);
  if (kept !== null) return kept;
  try {
    return await fetch(new URL(path, base), {
      headers: { Accept: accept },
      ...(signal ? { signal } : {}),
    });
  } catch (cause) {
    // An abort is the caller's own doing and must reach it unchanged.
    if (signal?.aborted) throw cause;
    throw new ApiError(0, t.request.noAnswer, path);
  }
}

/** Undefined where the answer is no JSON. */
export async function readJson(response: Response): Promise<unknown> {
  try {
    return parseVisible(await response.text());
  } catch {
    return undefined;
  }
}

/** Exported for its test. */
export function errorFrom(status: number, body: unknown, path: string): ApiError {
  const fields = isRecord(body) ? body : {};
  const message =
    typeof fields.error === "string"
      ? reasonText(fields.error, whyOf(fields.why))
      : t.request.status(status);
  const state = typeof fields.state === "string" ? (fields.state as TraceState) : null;
  return new ApiError(status, message, path, state, progressOf(fields.progress));
}

/** What the message says, where the server has a kind for it. */
function whyOf(value: unknown): { kind: string; values: Values } | null {
  if (!isRecord(value) || typeof value.kind !== "string") return null;
  return { kind: value.kind, values: isRecord(value.values) ? (value.values as Values) : {} };
}

/** A fraction, or `{bytes_done, bytes_total}`. */
function progressOf(value: unknown): number | null {
  if (typeof value === "number" && Number.isFinite(value)) return Math.min(Math.max(value, 0), 1);
  if (isRecord(value) && typeof value.bytes_done === "number") {
    const total = value.bytes_total;
    if (typeof total === "number" && total > 0) return progressOf(value.bytes_done / total);
  }
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
