import { useMemo } from "react";
import { AnswerTable, ViewTable } from "../../answers/AnswerTable";
import type { Distributed } from "../../api";
import { noteText, distributedTexts as text } from "../../i18n";
import { selectTrace, useAddress, useTrace } from "../../state";
import { rowCount, textAt } from "../../table";
import { Combo, Empty, Panel } from "../../ui";
import { showLongest } from "./go";
import { params } from "./params";
import { deviceTable, operationTable } from "./tables";

/** What the choosers call all; no worker or group is called so. */
const ALL = "*";

interface OperationsProps {
  readonly answer: Distributed;
  /** The one on screen elsewhere: its operations are shown first. */
  readonly worker: string | null;
}

export function Operations({ answer, worker }: OperationsProps) {
  const { operations, workers } = answer;
  const all = operations.rows.name?.length ?? 0;
  if (all === 0) {
    const note = answer.meta.notes.find(({ kind }) => kind === "no_communication");
    return (
      <Panel title={text.operations.title}>
        <Empty
          title={text.operations.empty}
          reason={(note && noteText(note)) ?? text.operations.emptyReason}
          remedy={note?.remedy ?? null}
        />
      </Panel>
    );
  }
  const known = workers.some((each) => each.worker === worker);
  return <OperationRows answer={answer} fallback={known && worker !== null ? worker : ALL} />;
}

function OperationRows({ answer, fallback }: { answer: Distributed; fallback: string }) {
  const { operations, workers } = answer;
  const [named, setWorker] = useAddress(params.worker);
  const [wantedGroup, setGroup] = useAddress(params.group);
  const wanted = named ?? fallback;
  const groups = useMemo(
    () => [...new Set((operations.rows.group ?? []).map(String))],
    [operations],
  );
  const worker =
    wanted === ALL ? null : workers.some((each) => each.worker === wanted) ? wanted : null;
  const group = groups.find((each) => each === wantedGroup) ?? null;
  const table = useMemo(
    () => operationTable(operations, worker, group),
    [operations, worker, group],
  );
  return (
    <Panel
      title={text.operations.title}
      actions={
        <>
          <Combo
            label={text.operations.worker}
            value={worker ?? ALL}
            options={[
              { value: ALL, label: text.operations.allWorkers },
              ...workers.map((each) => ({
                value: each.worker,
                label: each.worker,
                detail: each.node,
              })),
            ]}
            onChange={(next) => setWorker(next === fallback ? null : next)}
          />
          {groups.length > 1 && (
            <Combo
              label={text.operations.group}
              value={group ?? ALL}
              options={[
                { value: ALL, label: text.operations.allGroups },
                ...groups
                  .filter((name) => name !== "")
                  .map((name) => ({ value: name, label: name })),
              ]}
              onChange={(next) => setGroup(next === ALL ? "" : next)}
            />
          )}
        </>
      }
    >
      {rowCount(table) === 0 ? (
        <Empty reason={text.operations.noMatch} />
      ) : (
        <ViewTable
          // Columns differ: with one worker there is no column that says which.
          id={worker === null ? "distributed-operations" : "distributed-operations-of-one"}
          key={String(worker === null)}
          label={text.operations.title}
          table={table}
          filter={params.filter}
          sort={params.sort}
          onSelect={(row, rows) =>
            showLongest(worker ?? textAt(rows, "worker", row), textAt(rows, "name", row))
          }
        />
      )}
    </Panel>
  );
}

/** The rank on screen is marked. */
export function Devices({ answer }: { answer: Distributed }) {
  return (
    <Panel title={text.devices.title} help={text.devices.help}>
      <AnswerTable
        id="distributed-devices"
        label={text.devices.title}
        answer={answer}
        shape={deviceTable}
        nameKey="worker"
        filter={params.devicesFilter}
        sort={params.devicesSort}
        selected={useTrace().sel?.worker ?? null}
        onSelect={(row, rows) => selectTrace({ worker: textAt(rows, "worker", row) })}
      />
    </Panel>
  );
}
