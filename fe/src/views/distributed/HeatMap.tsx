/** A picture of all ranks and steps; the means are in the table of ranks, too. */
import { useMemo } from "react";
import { type HeatMap as Answer, type RunRanks, useRanksQuery } from "../../api";
import { HeatMap } from "../../charts";
import { count, value } from "../../format";
import { ranksTexts } from "../../i18n";
import { Choice } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { Async, Empty, Panel, Segmented } from "../../ui";
import { METRICS, type Metric, metricOf } from "./metrics";
import { NodeTiles } from "./NodeTiles";
import { type Order, orderOf } from "./order";
import { params } from "./params";
import { rankName } from "./sentence";

const text = ranksTexts.heat;
const LONGEST_NAME = 10;

interface Props {
  readonly ranks: RunRanks;
  readonly steps: readonly string[];
  readonly metrics: readonly Metric[];
  readonly step: string | null;
  readonly selected: string | null;
  readonly onPick: (worker: string, step: string | null) => void;
}

export function HeatMapPanel({ metrics, ...props }: Props) {
  const { sel } = useTrace();
  const [wanted, setMetric] = useAddress(params.heat);
  const [order] = useAddress(params.heatOrder);
  const known = METRICS.filter((each) => metrics.includes(each));
  const metric = known.find((each) => each === metricOf(wanted)) ?? known[0] ?? METRICS[0];
  const query = useRanksQuery("ranks/heatmap", sel, { metric });
  return (
    <>
      <NodeTiles
        ranks={props.ranks}
        metric={metric}
        onPick={(worker) => props.onPick(worker, props.step)}
      />
      <Panel
        title={text.title}
        help={text.help}
        actions={
          <>
            <Segmented
              labelled
              label={text.metric}
              value={metric}
              options={known}
              names={text.metrics}
              onChange={setMetric}
            />
            <Choice labelled param={params.heatOrder} label={text.order} names={text.orders} />
          </>
        }
      >
        <Async
          query={query}
          empty={(heat) =>
            heat.steps === 0
              ? { reason: text.noSteps }
              : heat.values.every((each) => each === null)
                ? { title: text.empty, reason: text.reason }
                : null
          }
        >
          {(heat) =>
            // While ranks are read, the two answers may be of different numbers of them.
            heat.ranks === props.ranks.worker.length && heat.steps === props.steps.length ? (
              <Picture {...props} heat={heat} order={order} metric={heat.metric} />
            ) : (
              <Empty reason={text.noSteps} />
            )
          }
        </Async>
      </Panel>
    </>
  );
}

interface PictureProps extends Omit<Props, "metrics"> {
  readonly heat: Answer;
  readonly order: Order;
  readonly metric: Metric;
}

function Picture(props: PictureProps) {
  const { heat, order, metric, ranks, steps, step, selected, onPick } = props;
  const positions = useMemo(() => orderOf(ranks, heat, order), [ranks, heat, order]);
  const names = useMemo(
    () => ranks.worker.map((_, rank) => shortName(ranks, rank, order === "node")),
    [ranks, order],
  );
  const outliers = heat.outliers.length;
  return (
    <HeatMap
      {...heat}
      title={text.title}
      summary={(least, highest) =>
        text.summary(text.metrics[metric], count(heat.ranks), count(heat.steps), least, highest)
      }
      keys={text.keys}
      columns={heat.steps}
      order={positions}
      rowNames={names}
      columnNames={steps}
      rowLabel={text.orders[order === "node" ? "node" : "rank"]}
      columnLabel={text.step}
      row={ranks.worker.indexOf(selected ?? "")}
      column={steps.indexOf(step ?? "")}
      tip={(rank, at) => ({
        title: text.cell(
          rankName(ranks.rank[rank] ?? null, ranks.worker[rank] ?? ""),
          steps[at] ?? "",
          value(heat.values[rank * heat.steps + at], heat.unit),
        ),
        lines: [],
      })}
      merged={(perLine, perCell) => text.merged(count(perLine), count(perCell))}
      onPick={(rank, at) => onPick(ranks.worker[rank] ?? "", steps[at] ?? "")}
    >
      {outliers > 0 && <span className="badge warning">{text.outliers(count(outliers))}</span>}
    </HeatMap>
  );
}

function shortName(ranks: RunRanks, rank: number, byNode: boolean): string {
  const host = byNode ? ranks.host[rank] : null;
  const number = ranks.rank[rank];
  const name = number === null || number === undefined ? (ranks.worker[rank] ?? "") : `${number}`;
  const whole = host ? `${host} ${name}` : name;
  return whole.length > LONGEST_NAME ? `…${whole.slice(1 - LONGEST_NAME)}` : whole;
}
