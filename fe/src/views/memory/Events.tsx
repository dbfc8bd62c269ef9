import { useMemo } from "react";
import {
  type MemoryEventsTable,
  memoryTableQuery,
  type TableSource,
  useMemoryEvents,
} from "../../api";
import { noteText, memoryTexts as text } from "../../i18n";
import { usePicked, useTableParams, useTrace } from "../../state";
import { DataTable, textAt, useRemoteTable, useTableSource } from "../../table";
import { QueryPanel } from "../../ui";
import { BlockDetails } from "./BlockDetails";
import { eventsTable } from "./columns";
import { RangeLine, type TableProps } from "./RangeLine";

export function EventsPanel({ look, device, tabs }: TableProps) {
  const { sel } = useTrace();
  const query = useMemoryEvents(sel, device, look.range);
  const source = useTableSource("memory/events", sel, memoryTableQuery(device, look.range));
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
          <p className="memory-line-of-text num">
            <RangeLine look={look} />
          </p>
          <Rows answer={answer} source={source} look={look} />
        </>
      )}
    </QueryPanel>
  );
}

interface RowsProps extends Pick<TableProps, "look"> {
  readonly answer: MemoryEventsTable;
  readonly source: TableSource | null;
}

function Rows({ answer, source, look }: RowsProps) {
  const params = useTableParams();
  const [selected, select] = usePicked();
  const table = useMemo(() => eventsTable(answer), [answer]);
  const remote = useRemoteTable(answer, source, eventsTable);
  return (
    <DataTable
      id="memory-events"
      label={text.events}
      table={table}
      remote={remote}
      nameKey="operator"
      {...params}
      selected={selected?.kind === "op" ? selected.name : null}
      onSelect={(row, rows) => {
        const name = textAt(rows, "operator", row);
        if (name !== "") select({ kind: "op", name });
      }}
      renderExpanded={(row, rows) => <BlockDetails rows={rows} row={row} look={look} />}
    />
  );
}
