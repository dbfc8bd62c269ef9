import { useMemo } from "react";
import type { CriticalPath, NameOnPath } from "../../api";
import { criticalpath } from "../../i18n/en/criticalpath";
import { type Picked, useAddress, usePicked, useTableParams } from "../../state";
import { DataTable, type Table, textAt } from "../../table";
import { Empty, Panel, Segmented } from "../../ui";
import { params } from "./params";

const text = criticalpath.names;
const LISTS = (["operators", "kernels", "functions", "modules"] as const).map((value) => ({
  value,
  label: text[value],
}));
const TIMES = "times of a name";

/** The operators, kernels, functions and modules that the path runs through. */
export function Names({ answer }: { answer: CriticalPath }) {
  const [list, setList] = useAddress(params.names);
  const [picked, setPicked] = usePicked();
  const state = useTableParams(params.filter, params.sort);
  const table = useMemo(
    () => nameTable(answer[list], answer.steps.names.length, answer.total_ns),
    [answer, list],
  );
  return (
    <Panel
      title={text.title}
      help={text.help}
      actions={<Segmented label={text.kind} value={list} options={LISTS} onChange={setList} />}
    >
      {answer[list].length === 0 ? (
        <Empty reason={text.none} />
      ) : (
        <DataTable
          id={`path-${list}`}
          key={list}
          label={text.title}
          table={table}
          {...state}
          selected={picked?.name ?? null}
          onSelect={(row) => {
            const found = pickedOf(
              textAt(table.rows, "what", row),
              textAt(table.rows, "name", row),
            );
            if (found) setPicked(found);
          }}
        />
      )}
    </Panel>
  );
}

/** What other views can describe. */
function pickedOf(what: string, name: string): Picked | null {
  if (what === "operator") return { kind: "op", name };
  if (what === "kernel" || what === "communication") return { kind: "kernel", name };
  return null;
}

export function nameTable(names: readonly NameOnPath[], steps: number, total: number): Table {
  const n = Math.max(1, steps);
  const time = { type: "number" as const, unit: "ns" as const, family: TIMES };
  const count = { type: "number" as const, unit: "count" as const };
  const isHost = names.some(({ host_ns }) => host_ns > 0);
  const isDevice = names.some(({ device_ns }) => device_ns > 0);
  const short = new Map(names.map(({ name, short_name }) => [name, short_name]));
  const brief = (name: string) => short.get(name) ?? name;
  const kinds = new Set(names.map(({ what }) => what));
  const ofDevice = ["kernel", "copy", "communication"].some((kind) =>
    kinds.has(kind as NameOnPath["what"]),
  );
  return {
    columns: [
      { key: "name", label: text.name, type: "string", unit: null, grow: true, brief },
      {
        key: "what",
        label: text.what,
        help: text.whatHelp,
        type: "string",
        unit: null,
        words: text.whats,
        hidden: kinds.size < 2,
      },
      { key: "total_ns", label: text.total, help: text.totalHelp, ...time },
      {
        key: "share",
        label: text.share,
        help: text.shareHelp,
        type: "number",
        unit: "percent",
        bar: true,
      },
      {
        key: "host_ns",
        label: text.host,
        help: text.hostHelp,
        hidden: !(isHost && isDevice),
        ...time,
      },
      {
        key: "device_ns",
        label: text.device,
        help: text.deviceHelp,
        hidden: !(isHost && isDevice),
        ...time,
      },
      { key: "calls", label: text.calls, help: text.callsHelp, ...count },
      { key: "all_calls", label: text.allCalls, help: text.allCallsHelp, ...count },
      {
        key: "slack_ns",
        label: ofDevice ? text.slack : text.hostSlack,
        help: ofDevice ? text.slackHelp : text.hostSlackHelp,
        type: "number",
        unit: "ns",
      },
    ],
    rows: {
      name: names.map(({ name }) => name),
      what: names.map(({ what }) => what),
      total_ns: names.map(({ total_ns }) => total_ns / n),
      share: names.map(({ total_ns }) => (total > 0 ? (100 * total_ns) / total : null)),
      host_ns: names.map(({ host_ns }) => host_ns / n),
      device_ns: names.map(({ device_ns }) => device_ns / n),
      calls: names.map(({ calls }) => calls),
      all_calls: names.map(({ all_calls }) => all_calls),
      slack_ns: names.map(({ slack_ns }) => slack_ns),
    },
  };
}
