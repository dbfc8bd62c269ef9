import { useMemo } from "react";
import type { Capture } from "../../api";
import { count } from "../../format";
import { captureTexts } from "../../i18n";
import { Code, Panel, Wide } from "../../ui";
import { type OptionRow, optionRows } from "./options";

const text = captureTexts.options;
const BADGE = { found: "good", empty: "warning", missing: "" } as const;

export function Options({ capture }: { capture: Capture }) {
  const rows = useMemo(() => optionRows(capture), [capture]);
  return (
    <Panel className="area-options" title={text.title} help={text.help}>
      <Wide>
        <table className="capture-table">
          <thead>
            <tr>
              <th scope="col">{text.option}</th>
              <th scope="col">{text.state}</th>
              <th scope="col">{text.adds}</th>
              <th scope="col">{text.enable}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Option key={row.id} row={row} />
            ))}
          </tbody>
        </table>
      </Wide>
    </Panel>
  );
}

function Option({ row: { id, state, events } }: { row: OptionRow }) {
  return (
    <tr>
      <th scope="row">{text.names[id]}</th>
      <td className="option-state">
        <span className={`badge ${BADGE[state]}`}>{text.states[state]}</span>{" "}
        {events !== null && events > 0 && id !== "steps" && (
          <span className="muted num">{text.events(count(events))}</span>
        )}
      </td>
      <td className="option-adds">{text.about[id]}</td>
      <td>{state !== "found" && <Code text={text.code[id]} />}</td>
    </tr>
  );
}
