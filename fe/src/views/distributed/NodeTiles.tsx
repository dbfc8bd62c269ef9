/** Ranks by the node and the place on it: where a slow one stands, at a glance. */
import { useMemo } from "react";
import type { RunRanks } from "../../api";
import { DeviationMap } from "../../charts";
import type { Unit } from "../../format";
import { count } from "../../format";
import { ranksTexts } from "../../i18n";
import { Panel } from "../../ui";
import type { Metric } from "./metrics";
import { rankName } from "./sentence";

const text = ranksTexts.byNode;
/** More nodes, or more ranks on one, are no longer seen at a glance. */
const MOST = 64;

interface Props {
  readonly ranks: RunRanks;
  readonly metric: Metric;
  readonly onPick: (worker: string) => void;
}

export function NodeTiles({ ranks, metric, onPick }: Props) {
  const placed = useMemo(() => placesOf(ranks, metric), [ranks, metric]);
  if (!placed) return null;
  const { rows, columns, cells, order } = placed;
  const unit: Unit = metric === "memory_bytes" ? "bytes" : "ns";
  const name = ranksTexts.heat.metrics[metric];
  const title = text.title(name);
  return (
    <Panel title={title} help={text.help}>
      <DeviationMap
        title={title}
        summary={text.summary(name, count(cells.length), count(rows.length))}
        head={[text.node, text.rank, name]}
        rows={rows}
        columns={columns}
        cells={cells}
        unit={unit}
        onPick={(cell) => onPick(ranks.worker[order[cell] ?? 0] ?? "")}
      />
    </Panel>
  );
}

/** By node, on each in the order of ranks; null where there are too many, or one. */
export function placesOf(ranks: RunRanks, metric: Metric) {
  const order = ranks.worker
    .map((_, at) => at)
    .sort(
      (a, b) =>
        (ranks.node[a] ?? 0) - (ranks.node[b] ?? 0) || (ranks.rank[a] ?? 0) - (ranks.rank[b] ?? 0),
    );
  const nodes = [...new Set(order.map((at) => ranks.node[at] ?? 0))];
  const used = nodes.map(() => 0);
  const cells = order.map((at) => {
    const row = nodes.indexOf(ranks.node[at] ?? 0);
    const column = used[row] ?? 0;
    used[row] = column + 1;
    return {
      row,
      column,
      label: rankName(ranks.rank[at] ?? null, ranks.worker[at] ?? ""),
      value: ranks[metric][at] ?? null,
      marked: ranks.named[at] ?? false,
    };
  });
  const columns = Math.max(0, ...used);
  if (cells.length < 2 || nodes.length > MOST || columns > MOST) return null;
  const rows = nodes.map((node) => {
    const first = order.find((at) => ranks.node[at] === node) ?? 0;
    return ranks.host[first] ?? text.nodeNumber(node);
  });
  return { rows, columns, cells, order };
}
