/** Graphs that devices replay: captures, replays, the nodes of one. */
import { useMemo } from "react";
import { type Graphs, useTraceQuery } from "../../api";
import { shorten } from "../../charts/labels";
import { duration, fraction } from "../../format";
import { program as text } from "../../i18n/en/program";
import { showInTrace } from "../../shell/findings";
import { doorsToEvents } from "../../shell/findings/showInTrace";
import { useAddress, useTrace } from "../../state";
import { described, SimpleTable, shortNames, type Table, withShortNames } from "../../table";
import { Button, Link, Panel } from "../../ui";
import { params } from "./params";

/** Rows of each table. */
const MOST = 200;
const MOST_OUTSIDE = 20;

/** Renders nothing if no graph was captured or replayed. */
export function ReplayedGraphs() {
  const { sel } = useTrace();
  const [wanted, setGraph] = useAddress(params.graph);
  const graph = /^\d{1,9}$/.test(wanted) ? Number(wanted) : null;
  const { data } = useTraceQuery("graphs", sel, { graph });
  if (!data || (rowsOf(data.graphs) === 0 && rowsOf(data.captures) === 0)) return null;
  return <Shown answer={data} graph={graph} onGraph={setGraph} />;
}

interface ShownProps {
  readonly answer: Graphs;
  readonly graph: number | null;
  readonly onGraph: (graph: string) => void;
}

function Shown({ answer, graph, onGraph }: ShownProps) {
  const graphs = useMemo(() => tableOf(answer.graphs), [answer]);
  const captures = useMemo(() => tableOf(answer.captures), [answer]);
  const nodes = useMemo(() => (answer.nodes ? nodeTable(answer.nodes) : null), [answer]);
  const outside = useMemo(() => nodeTable(answer.outside, MOST_OUTSIDE), [answer]);
  const besides = rowsOf(answer.outside);
  const every = answer.replayed_ns + answer.outside_ns;
  return (
    <Panel title={text.graphs} help={text.graphsHelp}>
      {rowsOf(answer.graphs) > 0 && (
        <>
          <p className="program-sentence">
            {text.replayed(
              duration(answer.replayed_ns),
              fraction(every > 0 ? answer.replayed_ns / every : 0),
            )}
          </p>
          <SimpleTable
            caption={text.graphRows}
            table={graphs}
            renderName={(row, name) => {
              const number = String(answer.graphs.rows.graph?.[row] ?? "");
              const start = Number(answer.graphs.rows.start_ns?.[row] ?? 0);
              const span = Number(answer.graphs.rows.span_ns?.[row] ?? 0);
              return (
                <>
                  <Link
                    aria-pressed={Number(number) === graph}
                    onClick={() => onGraph(Number(number) === graph ? "" : number)}
                  >
                    {text.graph(name)}
                  </Link>{" "}
                  <Button onClick={() => showInTrace({ start_ns: start, duration_ns: span }, null)}>
                    {text.inTrace}
                  </Button>
                </>
              );
            }}
          />
        </>
      )}
      {nodes && answer.nodes && (
        <SimpleTable caption={text.nodes} table={nodes} doorOf={doorsToEvents(answer.nodes.rows)} />
      )}
      {rowsOf(answer.gaps) > 0 && <Gaps answer={answer} graph={graph} />}
      {besides > 0 && (
        <SimpleTable
          caption={text.fellOut(Math.min(besides, MOST_OUTSIDE), besides)}
          table={outside}
          doorOf={doorsToEvents(answer.outside.rows)}
        />
      )}
      {rowsOf(answer.captures) > 0 && (
        <SimpleTable
          caption={text.captures}
          table={captures}
          doorOf={doorsToEvents(answer.captures.rows)}
        />
      )}
    </Panel>
  );
}

/** Folded: a list of many rows, which only somebody who looks for gaps wants. */
function Gaps({ answer, graph }: Pick<ShownProps, "answer" | "graph">) {
  const gaps = useMemo(() => gapTable(answer.gaps), [answer]);
  const shown = rowsOf(answer.gaps);
  const caption = answer.nodes
    ? text.graphGapsOf(String(graph), shown, answer.gap_count)
    : text.graphGaps(shown, answer.gap_count);
  const longest = Number(answer.gaps.rows.duration_ns?.[0] ?? 0);
  return (
    <details className="program-folded">
      <summary>{text.longest(caption, duration(longest))}</summary>
      <SimpleTable
        caption={caption}
        table={gaps}
        doorOf={(row) => () => {
          const at = (key: string) => Number(answer.gaps.rows[key]?.[row] ?? 0);
          const gap = { start_ns: at("start_ns"), duration_ns: at("duration_ns") };
          showInTrace(gap, at("row"));
        }}
      />
    </details>
  );
}

function rowsOf(table: Graphs["graphs"]): number {
  return Object.values(table.rows)[0]?.length ?? 0;
}

function tableOf({ columns, rows }: Table, most = MOST): Table {
  const shown = Object.fromEntries(
    Object.entries(rows).map(([key, values]) => [key, values.slice(0, most)]),
  );
  return { columns: columns.filter(({ hidden }) => !hidden), rows: shown };
}

/** Two of these stand in a row. */
const LONGEST_NODE = 40;

export function gapTable({ columns, rows }: Graphs["gaps"]): Table {
  const after = shortNames(rows, "after", "short_after");
  const before = shortNames(rows, "before", "short_before");
  const worded = described(columns, {
    where: { words: text.gapPlaces },
    after: { brief: (name) => shorten(after(name), LONGEST_NODE) },
    before: { brief: (name) => shorten(before(name), LONGEST_NODE) },
  });
  return tableOf({ columns: worded, rows });
}

export function nodeTable(nodes: Graphs["graphs"], most = MOST): Table {
  return withShortNames(tableOf(nodes, most));
}
