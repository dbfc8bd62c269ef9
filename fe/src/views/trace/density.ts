/** The strips of the overview. Pure. */
import type { RunOverview } from "../../api";
import type { Density } from "../../timeline";

/** Of the rank that is shown, in its own times; null while nothing is known of it. */
export function densityOf(
  overview: RunOverview | null,
  worker: string,
): { device: Density | null; host: Density | null } {
  const own = overview?.workers.find((each) => each.worker === worker);
  if (!overview || !own) return { device: null, host: null };
  const window = {
    start: overview.begin_ns - own.offset_ns,
    end: overview.end_ns - own.offset_ns,
  };
  const of = (bins: readonly number[]) => ({ window, values: bins.map((part) => part / 255) });
  return { device: of(own.device), host: of(own.host) };
}
