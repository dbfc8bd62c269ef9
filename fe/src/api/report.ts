/** A report: a page that has no server, and brings the answers with it (`web/report.py`). */

export interface Report {
  /** When it was made, as ISO 8601 writes it. */
  readonly made: string;
  /** Status and body by request, see `knownAs`. */
  readonly answers: Readonly<Record<string, readonly [number, string]>>;
}

/** The status of what a report does not hold: it was there where the report was made. */
export const NOT_IN_REPORT = 410;

let opened: Report | null = null;

export function openReport(report: Report | null): void {
  opened = report;
}

/** Null when there is a server to be asked. */
export function reportMade(): string | null {
  return opened?.made ?? null;
}

/** Null where a server is to be asked. */
export function fromReport(path: string): Response | null {
  if (opened === null) return null;
  const [status, body] = opened.answers[knownAs(path)] ?? [NOT_IN_REPORT, "{}"];
  return new Response(body, { status });
}

/** A request as the report knows it: the route, and its parameters by name. Exported for its test. */
export function knownAs(path: string): string {
  const [route = "", query = ""] = path.replace(/^api\//, "").split("?", 2);
  const parameters = [...new URLSearchParams(query)].map(([key, value]) => `${key}=${value}`);
  return [route, ...parameters.sort()].join("\n");
}
