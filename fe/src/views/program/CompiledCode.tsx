/** What torch.compile did: regions, breaks, compilations, generated kernels. */
import { useMemo } from "react";
import { type Compiled, useTraceQuery } from "../../api";
import { count, duration } from "../../format";
import { program as text } from "../../i18n/en/program";
import { doorsToEvents, doorToMost, showRow } from "../../shell/findings/showInTrace";
import { useTrace } from "../../state";
import { type Column, numberAt, SimpleTable } from "../../table";
import { Panel, Tile } from "../../ui";

/** Rows of each table. */
const MOST = 50;
const MOST_EAGER = 20;

/** Renders nothing if nothing was compiled. */
export function CompiledCode() {
  const { sel } = useTrace();
  const { data } = useTraceQuery("compiled", sel);
  if (!data || (!data.totals && rowsOf(data.kernels) === 0)) return null;
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
  const onDevice = answer.meta.device_type === "GPU";
  const regions = useMemo(
    () => firstRows(answer.regions, MOST, onDevice ? [] : ["device_ns"]),
    [answer, onDevice],
  );
  const compilations = useMemo(() => firstRows(answer.compilations), [answer]);
  const kernels = useMemo(() => firstRows(answer.kernels), [answer]);
  const eager = useMemo(
    () => firstRows(answer.eager, MOST_EAGER, onDevice ? [] : ["device_ns"]),
    [answer, onDevice],
  );
  const besides = rowsOf(answer.eager);
  return (
    <Panel title={text.compiled} help={text.compiledHelp}>
      {answer.totals && <Totals answer={answer} totals={answer.totals} onDevice={onDevice} />}
      {answer.totals && (answer.totals.breaks > 0 || (answer.totals.again ?? 0) > 0) && (
        <p className="program-why muted">{text.why}</p>
      )}
      {regions && (
        <SimpleTable
          caption={text.regions}
          table={regions}
          doorOf={doorsToEvents(answer.regions.rows)}
        />
      )}
      {eager && (
        <SimpleTable
          caption={text.eager(Math.min(besides, MOST_EAGER), besides)}
          table={eager}
          doorOf={doorsToEvents(answer.eager.rows)}
        />
      )}
      {compilations && (
        <SimpleTable
          caption={text.compilationRows}
          table={compilations}
          doorOf={doorsToEvents(answer.compilations.rows)}
        />
      )}
      {kernels && (
        <SimpleTable
          caption={text.kernels}
          table={kernels}
          doorOf={doorsToEvents(answer.kernels.rows)}
        />
      )}
    </Panel>
  );
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

/** Without columns of what was not recorded. */
function firstRows(
  { columns, rows }: Compiled["regions"],
  most = MOST,
  without: readonly string[] = [],
) {
  if (rowsOf({ columns, rows }) === 0) return null;
  const shown = Object.fromEntries(
    Object.entries(rows).map(([key, values]) => [key, values.slice(0, most)]),
  );
  const told = ({ key, hidden }: Column) =>
    !hidden && !without.includes(key) && (shown[key] ?? []).some((value) => value !== null);
  return { columns: columns.filter(told), rows: shown };
}

function rowsOf({ rows }: Compiled["regions"]): number {
  return Object.values(rows)[0]?.length ?? 0;
}
