/** The answer in a few sentences, the numbers behind it, and what is not known. */

import { type Flops, type RooflineTable, type Utilization, useTraceQuery } from "../../api";
import { duration, flop, fraction, unbroken } from "../../format";
import { textFor } from "../../i18n";
import { roofline as text } from "../../i18n/en/roofline";
import { useTrace } from "../../state";
import { numberAt, rowCount, textAt } from "../../table";
import { Code } from "../../ui";
import { Utilizations } from "./Utilizations";

export function Answer({ flops, table }: { flops: Flops; table: RooflineTable | undefined }) {
  const steps = useTraceQuery("overview", useTrace().sel).data?.steps;
  return (
    <>
      <p className="lead">
        {unbroken(
          [
            needs(flops, steps?.rule === "whole_trace"),
            flops.packed && text.packed(flop(flops.packed.least), flop(flops.packed.most)),
            ofPeak(flops.mfu),
            table && steps && lost(table, steps.names.length),
          ]
            .filter(Boolean)
            .join(" "),
        )}
      </p>
      <dl className="tiles">
        <Utilizations flops={flops} />
      </dl>
      <NotKnown flops={flops} />
    </>
  );
}

/** `isWhole`: nothing marks steps: the trace is one. */
function needs({ executed, per_step, time_ns }: Flops, isWhole: boolean): string {
  const [amount, time] = [flop(per_step), duration(time_ns)];
  if (executed > 0) return isWhole ? text.sentenceWhole(amount, time) : text.sentence(amount, time);
  return isWhole ? text.sentenceWholeWithout(time) : text.sentenceWithout(time);
}

function ofPeak({ shown, value, low, high, why }: Utilization): string {
  if (value === null) return why === null ? "" : text.whyNot[why];
  if (shown === "range") return text.ofPeakRange(fraction(low), fraction(high));
  return shown === "at_least" ? text.ofPeakAtLeast(fraction(value)) : text.ofPeak(fraction(value));
}

/** Of the average step, as what is needed. */
function lost(table: RooflineTable, steps: number): string {
  const { rows, meta } = table;
  if (meta.lost_ns === null || meta.total_ns === 0) return text.noLoss;
  const byName = new Map<string, number>();
  for (let row = 0; row < rowCount(table); row++) {
    const name = textAt(rows, "name", row);
    byName.set(name, (byName.get(name) ?? 0) + (numberAt(rows, "lost_ns", row) ?? 0));
  }
  const [name, most] = [...byName].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  return text.lost(
    duration(meta.lost_ns / Math.max(1, steps)),
    duration(meta.total_ns / Math.max(1, steps)),
    fraction(meta.lost_ns / meta.total_ns),
    name,
    duration(most / Math.max(1, steps)),
  );
}

/** Parts of the time below this share are named together, without what would record them. */
const LEAST_SHARE = 0.001;

/** Which part of the time is not known, why, and what would record it. */
export function NotKnown({
  flops: { coverage, remedies },
}: {
  flops: Pick<Flops, "coverage" | "remedies">;
}) {
  const parts = Object.entries(coverage?.unknown ?? {}).sort(([, a], [, b]) => b - a);
  if (parts.length === 0) return null;
  const reason = (why: string) => textFor(text.why, why) ?? why;
  const large = parts.filter(([, share]) => share >= LEAST_SHARE);
  const small = parts.filter(([, share]) => share < LEAST_SHARE);
  return (
    <div className="roofline-unknown">
      <h3>{text.unknown}</h3>
      <ul>
        {large.map(([why, share]) => (
          <li key={why}>
            <strong>{text.unknownShare(fraction(share))}</strong>: {reason(why)}
            {remedies[why] && (
              <>
                {" "}
                <Code text={remedies[why] ?? ""} />
              </>
            )}
          </li>
        ))}
        {small.length > 0 && (
          <li>
            <strong>{text.unknownSmall(fraction(LEAST_SHARE), small.length)}</strong>:{" "}
            {small.map(([why]) => reason(why)).join("; ")}
          </li>
        )}
      </ul>
    </div>
  );
}
