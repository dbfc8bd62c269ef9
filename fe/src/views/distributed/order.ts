/** In which order the ranks of the heat map come. Pure. */
import type { HeatMap, RunRanks } from "../../api";

export type Order = "rank" | "node" | "value";

/** Positions of the ranks, first the one on top. Unknown ranks and values come last. */
export function orderOf(ranks: RunRanks, heat: HeatMap, order: Order): number[] {
  const positions = ranks.worker.map((_, at) => at);
  if (order === "rank") return positions;
  const by =
    order === "node" ? ranks.node.map((node) => node ?? 0) : meansOf(heat).map((mean) => -mean);
  return positions.sort((a, b) => (by[a] ?? 0) - (by[b] ?? 0) || a - b);
}

/** Of each rank; -1 where nothing is known. */
function meansOf({ ranks, steps, values }: HeatMap): number[] {
  return Array.from({ length: ranks }, (_, rank) => {
    const known = values.slice(rank * steps, (rank + 1) * steps).filter((each) => each !== null);
    return known.length > 0 ? known.reduce((sum, each) => sum + each, 0) / known.length : -1;
  });
}
