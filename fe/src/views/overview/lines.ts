/** The findings in sight: a line each, numbered as their pins in the picture of the step. Pure. */
import type { Finding, Overview, RunFindings } from "../../api";
import { findingTitle } from "../../i18n";

type Place = Finding["instances"][number] & { readonly worker?: string };

interface OfLine {
  /** What the address calls it. */
  readonly key: string;
  readonly number: number;
  readonly stepNs: number;
  readonly isFirst: boolean;
  readonly title: string;
  readonly places: readonly Place[];
}

export type Line = OfLine &
  (
    | { readonly of: "rank"; readonly finding: Finding }
    | { readonly of: "job"; readonly finding: RunFindings["findings"][number] }
  );

/** How many findings are in sight. */
const LINES = 3;
/** Before the keys of findings over all ranks: a rank may have some of the same rule. */
const JOB = "run/";

const SEVERITIES = ["high", "medium", "low"];

/** By severity; of equals those over all ranks before those of this one. */
export function linesOf(
  { findings, average }: Pick<Overview, "findings" | "average">,
  job: RunFindings | null,
  hidden: readonly string[],
): { readonly lines: readonly Line[]; readonly more: number } {
  const ofJob = (job?.findings ?? []).map((finding, at) => ({
    of: "job" as const,
    finding,
    key: JOB + finding.key,
    stepNs: job?.step_ns ?? 0,
    isFirst: at === 0,
  }));
  const ofRank = findings
    .filter(({ id }) => !hidden.includes(id))
    .map((finding, at) => ({
      of: "rank" as const,
      finding,
      key: finding.key,
      stepNs: average.step_ns,
      isFirst: at === 0,
    }));
  const rank = ({ finding }: { readonly finding: Pick<Finding, "severity"> }) =>
    SEVERITIES.indexOf(finding.severity);
  const all = [...ofJob, ...ofRank].toSorted((a, b) => rank(a) - rank(b));
  const lines = all.slice(0, LINES).map((line, at) => ({
    ...line,
    number: at + 1,
    title: findingTitle(line.finding),
    places: line.finding.instances,
  }));
  return { lines: lines as readonly Line[], more: all.length - lines.length };
}

/** Where each line is seen in a stretch of the trace of a worker: its longest place there, if it has one. */
export function pinsIn(
  lines: readonly Line[],
  worker: string,
  { start, end }: { readonly start: number; readonly end: number },
): (Line & { readonly place: Place })[] {
  return lines.flatMap((line) => {
    const here = line.places.filter(
      (place) =>
        (place.worker ?? worker) === worker && place.start_ns >= start && place.start_ns < end,
    );
    const [place] = here.toSorted((a, b) => b.duration_ns - a.duration_ns);
    return place ? [{ ...line, place }] : [];
  });
}
