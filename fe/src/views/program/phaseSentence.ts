/** Which phase takes most of the average step, in a sentence. Pure. */
import type { Phases } from "../../api";
import { phaseName } from "../../draw/parts";
import { duration, fraction } from "../../format";
import { program as text } from "../../i18n/en/program";

/** What is in no phase that is known is none that could be named. */
const OTHER = "other";

export function phaseSentence(phases: Phases["phases"]): string {
  const total = phases.reduce((sum, each) => sum + each.exposed_ns, 0);
  if (total <= 0) return "";
  const [largest, second] = phases
    .filter((each) => each.exposed_ns > 0)
    .toSorted((a, b) => b.exposed_ns - a.exposed_ns);
  if (largest === undefined) return "";
  const share = fraction(largest.exposed_ns / total);
  const step = duration(total);
  if (largest.name !== OTHER)
    return text.sentence(phaseName(largest.name), share, step, 2 * largest.exposed_ns > total);
  if (second === undefined) return text.noPhase(step);
  return text.mostlyNoPhase(
    share,
    step,
    phaseName(second.name),
    fraction(second.exposed_ns / total),
  );
}
