/** The ranges that the program names, as a tree; the calls of one of them. */
import { useMemo } from "react";
import { useTraceQuery } from "../../api";
import { duration } from "../../format";
import { program as text } from "../../i18n/en/program";
import { showInTrace } from "../../shell/findings";
import { change, setAddress, useAddress, useTableParams, useTrace } from "../../state";
import { numberAt, rowCount, type Table, TreeTable, textAt } from "../../table";
import { Async, anchor, Button, QueryPanel } from "../../ui";
import { params } from "./params";

const NOTHING = { title: text.noRanges, reason: text.noRangesReason, remedy: text.noRangesRemedy };

/** Calls that are listed, the longest. */
const MOST_CALLS = 20;

/** The id of the element with them. */
const RANGES = anchor("named-ranges", "nearest");

/** The ranges that match, whichever were shown before. */
export function showRanges(filter: string): void {
  setAddress(change(params.filter, filter));
  RANGES.show();
}

export function Ranges() {
  const { sel } = useTrace();
  const query = useTraceQuery("ranges", sel);
  return (
    <div id={RANGES.id}>
      <QueryPanel
        title={text.ranges}
        help={text.rangesHelp}
        query={query}
        empty={(answer) => (rowCount(answer) === 0 ? NOTHING : null)}
      >
        {(answer) => <Tree answer={answer} />}
      </QueryPanel>
    </div>
  );
}

function Tree({ answer }: { answer: Table }) {
  const state = useTableParams(params.filter, params.sort);
  const [expansion, setExpansion] = useAddress(params.expansion);
  const [range, setRange] = useAddress(params.range);
  const chosen = /^\d+$/.test(range) && Number(range) < rowCount(answer) ? Number(range) : -1;
  const parent = useMemo(
    () => (answer.rows.parent ?? []).map((each) => (each === null ? -1 : Number(each))),
    [answer],
  );
  return (
    <>
      <div className="program-ranges">
        <TreeTable
          id="ranges"
          label={text.ranges}
          table={answer}
          parent={parent}
          {...state}
          expansion={expansion}
          onExpansion={setExpansion}
          usuallyOpen={() => true}
          selected={chosen}
          onSelect={(row) => setRange(row === chosen ? "" : String(row))}
        />
      </div>
      {chosen >= 0 && <Calls range={chosen} name={textAt(answer.rows, "name", chosen)} />}
    </>
  );
}

function Calls({ range, name }: { range: number; name: string }) {
  const { sel } = useTrace();
  const query = useTraceQuery("range_calls", sel, { range });
  return (
    <div className="program-stretches">
      <h3>{text.calls(name)}</h3>
      <Async query={query}>
        {({ rows }) => {
          const order = (rows.duration_ns ?? []).map((_, row) => row);
          order.sort(
            (a, b) =>
              (numberAt(rows, "duration_ns", b) ?? 0) - (numberAt(rows, "duration_ns", a) ?? 0),
          );
          return (
            <ul>
              {order.slice(0, MOST_CALLS).map((row) => {
                const stretch = {
                  start_ns: numberAt(rows, "start_ns", row) ?? 0,
                  duration_ns: numberAt(rows, "duration_ns", row) ?? 0,
                };
                return (
                  <li key={row}>
                    <Button onClick={() => showInTrace(stretch, numberAt(rows, "row", row))}>
                      {text.stretch(
                        duration(stretch.duration_ns),
                        textAt(rows, "step", row) || "–",
                      )}
                    </Button>{" "}
                    <span className="muted">{textAt(rows, "name", row)}</span>
                  </li>
                );
              })}
            </ul>
          );
        }}
      </Async>
    </div>
  );
}
