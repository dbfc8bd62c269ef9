import { useMemo } from "react";
import { type CriticalPath, type ResourceId, reportMade } from "../../api";
import { count, unbroken } from "../../format";
import { criticalpath as text } from "../../i18n/en/criticalpath";
import { change, setAddress } from "../../state";
import { numberColumn, SimpleTable, type Table, textColumn } from "../../table";
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
  const missing = { missing: said.missing };
  const time = (key: string, label: string, help: string) =>
    numberColumn(key, label, "ns", { help, family: TIMES, ...missing });
  const percent = (key: string, label: string, help: string, bar = false) =>
    numberColumn(key, label, "percent", { help, bar, ...missing });
  return {
    columns: [
      textColumn("resource", said.resource),
      time("on_path_ns", said.onPath, said.onPathHelp),
      percent("share", said.share, said.shareHelp, true),
      time("free_ns", said.free, said.freeHelp),
      percent("free_share", said.freeShare, said.freeHelp),
      time("faster_ns", said.faster, said.fasterHelp),
      percent("faster_share", said.fasterShare, said.fasterHelp),
      textColumn("next", said.next, { help: said.nextHelp }),
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
