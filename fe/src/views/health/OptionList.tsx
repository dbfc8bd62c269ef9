import type { Capture } from "../../api";
import { count } from "../../format";
import { captureTexts } from "../../i18n";
import { ListTable } from "../../table";
import { Code, Panel } from "../../ui";
import { optionRows } from "./options";

const text = captureTexts.options;
const BADGE = { found: "good", empty: "warning", missing: "" } as const;

export function Options({ capture }: { capture: Capture }) {
  return (
    <Panel className="area-options" title={text.title} help={text.help}>
      <ListTable
        label={text.title}
        wide
        rows={optionRows(capture)}
        columns={[
          { label: text.option, cell: ({ id }) => text.names[id] },
          {
            label: text.state,
            kind: "text",
            cell: ({ id, state, events }) => (
              <>
                <span className={`badge ${BADGE[state]}`}>{text.states[state]}</span>{" "}
                {events !== null && events > 0 && id !== "steps" && (
                  <span className="muted num">{text.events(count(events))}</span>
                )}
              </>
            ),
          },
          {
            label: text.adds,
            kind: "text",
            className: "option-adds",
            cell: ({ id }) => text.about[id],
          },
          {
            label: text.enable,
            kind: "text",
            cell: ({ id, state }) => state !== "found" && <Code text={text.code[id]} />,
          },
        ]}
      />
    </Panel>
  );
}
