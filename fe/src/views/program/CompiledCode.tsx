/** What torch.compile did: regions, breaks, compilations, generated kernels. */
import { type Compiled, useTraceQuery } from "../../api";
import { count, duration } from "../../format";
import { program as text } from "../../i18n/en/program";
import { doorToMost, showRow } from "../../shell/findings/showInTrace";
import { useTrace } from "../../state";
import { type Cell, numberAt, rowCount, type Table } from "../../table";
import { Panel, Tile } from "../../ui";
import { Events, shownOf } from "./Events";

/** Rows of each table. */
const MOST = 50;
const MOST_EAGER = 20;

/** Renders nothing if nothing was compiled. */
export function CompiledCode() {
  const { sel } = useTrace();
  const { data } = useTraceQuery("compiled", sel);
  if (!data || (!data.totals && rowCount(data.kernels) === 0)) return null;
  return <Shown answer={data} />;
}

interface ShownProps {
  readonly answer: Compiled;
}

interface TotalsProps {
  readonly answer: Compiled;
  readonly totals: NonNullable<Compiled["totals"]>;
  readonly onDevice: boolean;
}

function Shown({ answer }: ShownProps) {
  const { regions, eager, compilations, kernels, totals, meta } = answer;
  const onDevice = meta.device_type === "GPU";
  const besides = rowCount(eager);
  const work = onDevice ? known : knownOfHost;
  return (
    <Panel title={text.compiled} help={text.compiledHelp}>
      {totals && <Totals answer={answer} totals={totals} onDevice={onDevice} />}
      {totals && (totals.breaks > 0 || (totals.again ?? 0) > 0) && (
        <p className="program-why muted">{text.why}</p>
      )}
      <Events caption={text.regions} table={regions} shape={work} />
      <Events
        caption={text.eager(Math.min(besides, MOST_EAGER), besides)}
        table={eager}
        shape={onDevice ? eagerOf : eagerOfHost}
      />
      <Events caption={text.compilationRows} table={compilations} shape={known} />
      <Events caption={text.kernels} table={kernels} shape={known} />
    </Panel>
  );
}

/** Without columns of what was not recorded. */
const known = (table: Table) => shownOf(table, MOST, (cell) => cell !== null);
const knownOfHost = (table: Table) => shownOf(table, MOST, ofHost);
const eagerOf = (table: Table) => shownOf(table, MOST_EAGER, (cell) => cell !== null);
const eagerOfHost = (table: Table) => shownOf(table, MOST_EAGER, ofHost);

function ofHost(cell: Cell, key: string): boolean {
  return key !== "device_ns" && cell !== null;
}

function Totals({ answer, totals, onDevice }: TotalsProps) {
  const regions = answer.regions.rows;
  const lookup = totals.lookup_row;
  const inside = (row: number) =>
    (numberAt(regions, "calls", row) ?? 0) > (numberAt(regions, "outer_calls", row) ?? 0);
  return (
    <dl className="tiles">
      <Tile
        label={text.inRegions}
        help={text.inRegionsHelp}
        value={duration(totals.outer_ns)}
        facts={[[text.regionCalls, count(totals.calls)]]}
        onOpen={doorToMost(regions, "host_ns")}
      />
      <Tile
        label={text.compiling}
        help={text.compilingHelp}
        value={duration(totals.compile_ns)}
        onOpen={doorToMost(answer.compilations.rows, "duration_ns")}
        facts={[
          [text.compilations, count(totals.compilations)],
          ...(totals.again === null || totals.compilations === 0
            ? []
            : ([[text.again, count(totals.again)]] as const)),
        ]}
      />
      <Tile
        label={text.breaks}
        help={text.breaksHelp}
        value={count(totals.breaks)}
        onOpen={doorToMost(regions, "host_ns", inside)}
        {...(totals.lines.length > 0 && { remark: totals.lines.join(", ") })}
      />
      {onDevice && (
        <Tile
          label={text.remainder}
          help={text.remainderHelp}
          value={duration(totals.outside_device_ns)}
          onOpen={doorToMost(answer.eager.rows, "device_ns")}
          facts={[[text.insideDevice, duration(totals.inside_device_ns)]]}
        />
      )}
      <Tile
        label={text.guards}
        help={text.guardsHelp}
        value={duration(totals.lookup_ns)}
        onOpen={lookup === null ? undefined : () => showRow(lookup)}
      />
    </dl>
  );
}
