/** How the ranks divide the work: layout and groups, pipeline stages, experts, sharded parameters, representatives. */

import { useMemo, useState } from "react";
import type { ParallelLayout, Pipeline as PipelineAnswer, RanksOverview } from "../../api";
import { Gantt, type GanttSpan } from "../../charts";
import { partColor } from "../../draw/parts";
import { count, duration, fraction } from "../../format";
import { ranksTexts } from "../../i18n";
import { selectTrace, useTrace } from "../../state";
import { SimpleTable, type Table } from "../../table";
import { Button, Link, Panel } from "../../ui";
import { showCollectives, showEvent, showStep } from "./go";
import { foldGroups, fsdpTable, groupsTable, moeTable } from "./runTables";
import { rankName } from "./sentence";

const words = ranksTexts.layout;

export function Layout({ answer }: { answer: RanksOverview }) {
  const { layout, groups } = answer;
  const [all, setAll] = useState(false);
  const folds = useMemo(
    () => (all ? groups.map((row) => ({ row, count: 1 })) : foldGroups(groups)),
    [groups, all],
  );
  const table = useMemo(() => groupsTable(folds, answer.group_columns), [folds, answer]);
  const confidence = ranksTexts.answer.confidence[layout.confidence];
  return (
    <Panel title={words.title} help={words.help}>
      <p className="totals">
        {layout.dimensions.length === 0 && <span className="muted">{words.none}</span>}
        {layout.dimensions.map((dimension) => (
          <span key={`${dimension.role} ${dimension.stride}`} className="run-dimension">
            <strong>{words.dimension(words.roles[dimension.role], count(dimension.size))}</strong>
            {dimension.stride !== null && (
              <span className="muted"> {words.stride(count(dimension.stride))}</span>
            )}
          </span>
        ))}
        {layout.dimensions.length > 0 && <span className="badge">{confidence}</span>}
        {layout.nodes !== null && <span className="muted">{nodesOf(layout)}</span>}
      </p>
      {groups.length > 0 && (
        <Scrolled
          title={words.groups}
          table={table}
          doorOf={(row) => {
            const group = folds[row]?.row.label;
            return group ? () => showCollectives({ group }) : null;
          }}
        />
      )}
      <FoldLink all={all} setAll={setAll} shown={folds.length} rows={groups.length} />
    </Panel>
  );
}

/** Shows the rows that stand folded, or folds them. */
export function FoldLink(props: {
  readonly all: boolean;
  readonly setAll: (all: boolean) => void;
  /** Of how many rows all are. */
  readonly shown: number;
  readonly rows: number;
}) {
  const { all, setAll, shown, rows } = props;
  const text = ranksTexts.collectives;
  if (!all && shown === rows) return null;
  return <Link onClick={() => setAll(!all)}>{all ? text.fold : text.all(count(rows))}</Link>;
}

/** As many rows as there are groups. */
function Scrolled(props: {
  readonly title: string;
  readonly table: Table;
  /** Where the name of a row leads. */
  readonly doorOf: (row: number) => (() => void) | null;
}) {
  const { title, table, doorOf } = props;
  return (
    // A region that scrolls must be reachable by keyboard.
    <section className="distributed-groups" tabIndex={0} aria-label={title}>
      <SimpleTable caption={title} table={table} doorOf={doorOf} />
    </section>
  );
}

function nodesOf({ nodes, ranks_per_node: most }: ParallelLayout): string {
  const ranks = count(most);
  return nodes === 1 ? words.oneNode(ranks) : words.nodes(count(nodes), ranks);
}

const stages = ranksTexts.pipeline;
const KINDS = [
  { key: "work", label: stages.kinds.work, color: "var(--cat-kernel)" },
  { key: "transfer", label: stages.kinds.transfer, color: "var(--cat-communication)" },
  { key: "wait", label: stages.kinds.wait, color: partColor("sync") },
];

export function Pipeline({ pipeline }: { pipeline: PipelineAnswer }) {
  const rows = useMemo(
    () => pipeline.stages.map(({ stage, worker }) => stages.stage(String(stage), worker)),
    [pipeline],
  );
  const spans = useMemo(
    () =>
      pipeline.stages.flatMap(({ spans }, row) =>
        spans.map(
          ({ kind, start_ns: start, end_ns: end }): GanttSpan => ({
            row,
            kind,
            start,
            end,
          }),
        ),
      ),
    [pipeline],
  );
  const events = useMemo(
    () => pipeline.stages.flatMap(({ spans }) => spans.map(({ row }) => row)),
    [pipeline],
  );
  const end = spans.reduce((most, span) => Math.max(most, span.end), 0);
  const worst = pipeline.stages.reduce((most, { bubble }) => Math.max(most, bubble), 0);
  const open = (row: number) => {
    const worker = pipeline.stages[row]?.worker;
    if (worker !== undefined) showStep(worker, pipeline.step);
  };
  const cells = ({ row, kind, start, end }: GanttSpan) => [
    rows[row] ?? "",
    stages.kinds[kind as keyof typeof stages.kinds],
    duration(start),
    duration(end - start),
  ];
  return (
    <Panel title={stages.title(pipeline.step)} help={stages.help}>
      <Gantt
        title={stages.title(pipeline.step)}
        summary={stages.summary(count(rows.length), fraction(worst))}
        rows={rows}
        spans={spans}
        kinds={KINDS}
        end={end}
        tip={(at) => {
          const [title = "", kind = "", start = "", length = ""] = spans[at]
            ? cells(spans[at])
            : [];
          return {
            title,
            subtitle: kind,
            lines: [
              { label: stages.duration, value: length },
              { label: stages.start, value: start },
            ],
          };
        }}
        onPick={(at) => {
          const worker = pipeline.stages[spans[at]?.row ?? -1]?.worker;
          if (worker !== undefined) showEvent(worker, events[at] ?? null);
        }}
        head={[stages.stageColumn, stages.kind, stages.start, stages.duration]}
        tableRows={() => spans.map((span) => ({ cells: cells(span) }))}
      />
      <p className="run-facts">
        <span className="muted">{stages.bubbles}</span>
        {pipeline.stages.map(({ stage, bubble, bubble_ns: ns }, at) => (
          <Link className="num" key={stage} onClick={() => open(at)}>
            {stages.bubble(String(stage), fraction(bubble), duration(ns))}
          </Link>
        ))}
        {pipeline.note !== "" && <span className="muted">{pipeline.note}</span>}
      </p>
    </Panel>
  );
}

function doorTo(found: { worker: string; row: number | null } | undefined): (() => void) | null {
  return found ? () => showEvent(found.worker, found.row) : null;
}

export function Experts({ answer }: { answer: RanksOverview }) {
  const { moe } = answer;
  const table = useMemo(() => moeTable(answer), [answer]);
  const { title, help } = ranksTexts.moe;
  if (moe.length === 0) return null;
  return (
    <Panel title={title} help={help}>
      <Scrolled title={title} table={table} doorOf={(row) => doorTo(moe[row])} />
    </Panel>
  );
}

export function Shards({ answer }: { answer: RanksOverview }) {
  const { fsdp } = answer;
  const table = useMemo(() => fsdpTable(answer), [answer]);
  const { title, help } = ranksTexts.fsdp;
  if (fsdp.length === 0) return null;
  return (
    <Panel title={title} help={help}>
      <Scrolled title={title} table={table} doorOf={(row) => doorTo(fsdp[row])} />
    </Panel>
  );
}

type RepresentativesProps = Pick<RanksOverview, "representatives">;

export function Representatives({ representatives }: RepresentativesProps) {
  const selected = useTrace().sel?.worker;
  const text = ranksTexts.representatives;
  if (representatives.length < 2) return null;
  return (
    <Panel title={text.title} help={text.help}>
      <ul className="run-representatives">
        {representatives.map(({ worker, rank, like, named }) => (
          <li key={worker}>
            <Button aria-pressed={worker === selected} onClick={() => selectTrace({ worker })}>
              <strong>{rankName(rank, worker)}</strong>{" "}
              <span className="muted">{text.like(count(like))}</span>
              {named && <span className="badge warning">{text.slow}</span>}
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
