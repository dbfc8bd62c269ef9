import { useMemo } from "react";
import { ViewTable } from "../../answers/AnswerTable";
import type { CriticalPath, NameOnPath } from "../../api";
import { criticalpath } from "../../i18n/en/criticalpath";
import { Choice } from "../../shell";
import { type Picked, useAddress, usePicked } from "../../state";
import { declaredTable, derive, shareOf, type Table, textAt } from "../../table";
import { Empty, Panel } from "../../ui";
import { params } from "./params";

const text = criticalpath.names;
const TIMES = "times of a name";
const DEVICE_WORK = ["kernel", "copy", "communication"] as const;
/** What the host has is no slack of work; the id of the column says that. */
const HOST_SLACK = { id: "", label: text.hostSlack, help: text.hostSlackHelp };

/** The operators, kernels, functions and modules that the path runs through. */
export function Names({ answer }: { answer: CriticalPath }) {
  const [list] = useAddress(params.names);
  const [picked, setPicked] = usePicked();
  const table = useMemo(() => nameTable(answer, answer[list]), [answer, list]);
  return (
    <Panel
      title={text.title}
      help={text.help}
      actions={<Choice param={params.names} label={text.kind} names={text} />}
    >
      {answer[list].length === 0 ? (
        <Empty reason={text.none} />
      ) : (
        <ViewTable
          id={`path-${list}`}
          key={list}
          label={text.title}
          table={table}
          filter={params.filter}
          sort={params.sort}
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

/** The mean step; what the answer has is of all steps together. */
export function nameTable(
  { columns, steps, total_ns: whole }: Pick<CriticalPath, "columns" | "steps" | "total_ns">,
  names: readonly NameOnPath[],
): Table {
  const n = Math.max(1, steps.names.length);
  const short = new Map(names.map(({ name, short_name }) => [name, short_name]));
  const kinds = new Set(names.map(({ what }) => what));
  const [isHost, isDevice] = [
    names.some(({ host_ns }) => host_ns > 0),
    names.some(({ device_ns }) => device_ns > 0),
  ];
  const parts = { family: TIMES, hidden: !(isHost && isDevice) };
  const table = declaredTable(columns, names, {
    name: { grow: true, brief: (name) => short.get(name) ?? name },
    what: { words: text.whats, hidden: kinds.size < 2 },
    total_ns: { family: TIMES, cell: ({ total_ns }) => total_ns / n },
    host_ns: { ...parts, cell: ({ host_ns }) => host_ns / n },
    device_ns: { ...parts, cell: ({ device_ns }) => device_ns / n },
    slack_ns: DEVICE_WORK.some((kind) => kinds.has(kind)) ? {} : HOST_SLACK,
  });
  const share = { key: "share", label: text.share, help: text.shareHelp };
  return derive(table, [shareOf("total_ns", whole / n, share)]);
}
