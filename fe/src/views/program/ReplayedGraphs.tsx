/** Graphs that devices replay: captures, replays, the nodes of one. */
import { useMemo } from "react";
import { type Graphs, useTraceQuery } from "../../api";
import { shorten } from "../../charts/labels";
import { duration, fraction } from "../../format";
import { program as text } from "../../i18n/en/program";
import { showInTrace } from "../../shell/findings";
import { useAddress, useTrace } from "../../state";
import {
  described,
  rowCount,
  SimpleTable,
  shortNames,
  type Table,
  withShortNames,
} from "../../table";
import { Button, Link, Panel } from "../../ui";
import { Events, shownOf } from "./Events";
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
  if (!data || (rowCount(data.graphs) === 0 && rowCount(data.captures) === 0)) return null;
  return <Shown answer={data} graph={graph} onGraph={setGraph} />;
}

interface ShownProps {
  readonly answer: Graphs;
  readonly graph: number | null;
  readonly onGraph: (graph: string) => void;
}

function Shown({ answer, graph, onGraph }: ShownProps) {
  const graphs = useMemo(() => shownOf(answer.graphs, MOST), [answer]);
  const besides = rowCount(answer.outside);
  const every = answer.replayed_ns + answer.outside_ns;
  return (
    <Panel title={text.graphs} help={text.graphsHelp}>
      {rowCount(answer.graphs) > 0 && (
        <>
          <p className="lead">
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
      {answer.nodes && <Events caption={text.nodes} table={answer.nodes} shape={nodeTable} />}
      {rowCount(answer.gaps) > 0 && <Gaps answer={answer} graph={graph} />}
      <Events
        caption={text.fellOut(Math.min(besides, MOST_OUTSIDE), besides)}
        table={answer.outside}
        shape={outsideTable}
      />
      <Events caption={text.captures} table={answer.captures} shape={captureTable} />
    </Panel>
  );
}

/** Folded: a list of many rows, which only somebody who looks for gaps wants. */
function Gaps({ answer, graph }: Pick<ShownProps, "answer" | "graph">) {
  const gaps = useMemo(() => gapTable(answer.gaps), [answer]);
  const shown = rowCount(answer.gaps);
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
  return shownOf({ columns: worded, rows }, MOST);
}

export function nodeTable(nodes: Table, most = MOST): Table {
  return withShortNames(shownOf(nodes, most));
}

const outsideTable = (nodes: Table) => nodeTable(nodes, MOST_OUTSIDE);
const captureTable = (captures: Table) => shownOf(captures, MOST);
