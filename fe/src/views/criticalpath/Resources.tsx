import { useMemo } from "react";
import { type CriticalPath, type ResourceId, reportMade } from "../../api";
import { count, unbroken } from "../../format";
import { criticalpath as text } from "../../i18n/en/criticalpath";
import { change, setAddress } from "../../state";
import { SimpleTable, type Table } from "../../table";
import { Link, Panel, Swatch } from "../../ui";
import { PIECES } from "./Pieces";
import { params } from "./params";
import { isTold, madeOf, piecesOf, resourceColor, resourceName, stepWithMost } from "./parts";

const said = text.columns;
/** Read against each other: in one unit. */
const TIMES = "times of a step";

export function Resources({ answer }: { answer: CriticalPath }) {
  const table = useMemo(() => resourceTable(answer), [answer]);
  const { steps, total_ns } = answer;
  const told = answer.resources.filter(isTold);
  const others = answer.resources.filter((each) => !isTold(each) && each.if_free?.refused === null);
  return (
    <Panel title={text.table} help={text.tableHelp} className="path-resources">
      <SimpleTable
        caption={text.meanOf(count(steps.names.length))}
        table={table}
        renderName={(row, name) => (
          <>
            <Swatch color={resourceColor(told[row]?.resource ?? "unknown")} />
            <Door steps={steps} resource={told[row]?.resource ?? "unknown"} name={name} />
            <span className="path-made-of">
              {told[row] && unbroken(madeOf(told[row], steps, total_ns))}
            </span>
          </>
        )}
      />
      {told.some(({ resource }) => resource === "communication") && (
        <p className="muted">{text.withWaiting}</p>
      )}
      {others.length > 0 && (
        <p className="muted">
          {text.notTold(others.map(({ resource }) => resourceName(resource)).join(", "))}
        </p>
      )}
    </Panel>
  );
}

interface DoorProps {
  readonly steps: CriticalPath["steps"];
  readonly resource: ResourceId;
  readonly name: string;
}

/** Leads to the pieces of the path that are of a resource, in the step that has most of it. */
function Door({ steps, resource, name }: DoorProps) {
  const step = steps.names[stepWithMost(resource, steps)];
  // A report has no pieces.
  if (step === undefined || reportMade() !== null) return name;
  return (
    <Link
      title={text.piecesOf(name, step)}
      onClick={() => {
        setAddress(
          change(params.step, step),
          change(params.piecesFilter, piecesOf(resource)),
          change(params.piecesSort, "-duration_ns"),
        );
        PIECES.show();
      }}
    >
      {name}
    </Link>
  );
}

/** A row for each resource that has something to tell; of the mean step. */
export function resourceTable({ resources, steps, total_ns }: CriticalPath): Table {
  const told = resources.filter(isTold);
  const n = Math.max(1, steps.names.length);
  const mean = (ns: number | null | undefined) => (typeof ns === "number" ? ns / n : null);
  const share = (ns: number | null | undefined) =>
    typeof ns === "number" && total_ns > 0 ? (100 * ns) / total_ns : null;
  const number = { type: "number" as const, missing: said.missing };
  const time = { ...number, unit: "ns" as const, family: TIMES };
  const percent = { ...number, unit: "percent" as const };
  const word = { type: "string" as const, unit: null };
  return {
    columns: [
      { key: "resource", label: said.resource, ...word },
      { key: "on_path_ns", label: said.onPath, help: said.onPathHelp, ...time },
      { key: "share", label: said.share, help: said.shareHelp, bar: true, ...percent },
      { key: "free_ns", label: said.free, help: said.freeHelp, ...time },
      { key: "free_share", label: said.freeShare, help: said.freeHelp, ...percent },
      { key: "faster_ns", label: said.faster, help: said.fasterHelp, ...time },
      { key: "faster_share", label: said.fasterShare, help: said.fasterHelp, ...percent },
      { key: "next", label: said.next, help: said.nextHelp, ...word },
    ],
    rows: {
      resource: told.map(({ resource }) => resourceName(resource)),
      on_path_ns: told.map(({ on_path_ns }) => mean(on_path_ns)),
      share: told.map(({ on_path_ns }) => share(on_path_ns)),
      free_ns: told.map(({ if_free }) => mean(if_free?.saved_ns)),
      free_share: told.map(({ if_free }) => share(if_free?.saved_ns)),
      faster_ns: told.map(({ if_faster }) => mean(if_faster?.saved_ns)),
      faster_share: told.map(({ if_faster }) => share(if_faster?.saved_ns)),
      next: told.map(({ next }) => (next === null ? null : resourceName(next))),
    },
  };
}
