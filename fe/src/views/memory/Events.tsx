import { AnswerTable } from "../../answers/AnswerTable";
import { tables, useTable } from "../../api";
import { noteText, memoryTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { QueryPanel } from "../../ui";
import { BlockDetails } from "./BlockDetails";
import { eventsTable } from "./columns";
import { params } from "./params";
import { RangeLine, type TableProps } from "./RangeLine";

export function EventsPanel({ look, device, tabs }: TableProps) {
  const { sel } = useTrace();
  const shown = tables.memoryEvents(sel, device, look.range);
  const query = useTable(shown);
  return (
    <QueryPanel
      title={text.events}
      help={text.eventsHelp}
      query={query}
      usable
      actions={tabs}
      empty={({ meta }) => {
        const note = meta.notes.find(({ kind }) => kind === "no_memory_addresses");
        return note ? { reason: noteText(note) } : null;
      }}
    >
      {(answer) => (
        <>
          <p className="totals num">
            <RangeLine look={look} />
          </p>
          <AnswerTable
            id="memory-events"
            label={text.events}
            answer={answer}
            handle={shown}
            shape={eventsTable}
            nameKey="operator"
            filter={params.filter}
            sort={params.sort}
            kind="op"
            renderExpanded={(row, rows) => <BlockDetails rows={rows} row={row} look={look} />}
          />
        </>
      )}
    </QueryPanel>
  );
}
