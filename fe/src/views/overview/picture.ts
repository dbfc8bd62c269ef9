/** From the answer about the median step to what is drawn of it. Pure. */
import type { StepPicture } from "../../api";
import { partColor } from "../../draw/parts";
import { overviewTexts } from "../../i18n";

const text = overviewTexts.picture;

type Lane = StepPicture["lanes"][number];

interface Mark {
  readonly lane: string;
  readonly part: string;
  /** ns since the start of the trace. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** -1 without an event. */
  readonly row: number;
  readonly name: string | null;
}

export function laneName({ kind, device }: Pick<Lane, "kind" | "device">): string {
  return kind === "device" ? text.device(device ?? 0) : text.lanes[kind];
}

/** By lane. */
export function marksOf({ lanes, parts, names }: StepPicture): Mark[][] {
  return lanes.map((lane) =>
    lane.part.map((part, at) => {
      const from = lane.start_ns[at] ?? 0;
      return {
        lane: laneName(lane),
        part: parts[part] ?? "",
        from,
        to: from + (lane.duration_ns[at] ?? 0),
        count: lane.count[at] ?? 1,
        row: lane.row[at] ?? -1,
        name: names[lane.name[at] ?? -1] ?? null,
      };
    }),
  );
}

/** Time of each part over the lanes of a kind, most first. */
export function timeOf(
  { lanes, parts }: StepPicture,
  kind: Lane["kind"],
): { readonly part: string; readonly ns: number }[] {
  const sums = new Map<number, number>();
  for (const lane of lanes.filter((each) => each.kind === kind))
    lane.part.forEach((part, at) => {
      sums.set(part, (sums.get(part) ?? 0) + (lane.duration_ns[at] ?? 0));
    });
  return [...sums]
    .map(([part, ns]) => ({ part: parts[part] ?? "", ns }))
    .toSorted((a, b) => b.ns - a.ns);
}

/** Parts of at least this share of their lanes are named below the picture. */
const LEAST = 0.02;
const MOST = 5;

/** What the colours of the host and the devices mean; phases have their names on them. */
export function legendOf(answer: StepPicture): string[] {
  const kinds: readonly Lane["kind"][] = ["device", "host"];
  const large = kinds.flatMap((kind) => {
    const parts = timeOf(answer, kind);
    const total = parts.reduce((sum, { ns }) => sum + ns, 0);
    return parts.filter(({ ns }) => ns >= LEAST * total).map(({ part }) => part);
  });
  // What has one colour means the same, on the host and in a gap that waits for it.
  const byColor = new Map(large.toReversed().map((part) => [partColor(part), part]));
  return large
    .filter((part, at) => byColor.get(partColor(part)) === part && large.indexOf(part) === at)
    .slice(0, MOST);
}
