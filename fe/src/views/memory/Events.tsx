import { useMemo } from "react";
import { type MemoryEventsTable, type TableHandle, tables, useTable } from "../../api";
import { noteText, memoryTexts as text } from "../../i18n";
import { usePicked, useTableParams, useTrace } from "../../state";
import { DataTable, textAt, useRemoteTable } from "../../table";
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
          <p className="memory-line-of-text num">
            <RangeLine look={look} />
          </p>
          <Rows answer={answer} shown={shown} look={look} />
        </>
      )}
    </QueryPanel>
  );
}

interface RowsProps extends Pick<TableProps, "look"> {
  readonly answer: MemoryEventsTable;
  readonly shown: TableHandle<"memory/events">;
}

function Rows({ answer, shown, look }: RowsProps) {
  const state = useTableParams(params.filter, params.sort);
  const [selected, select] = usePicked();
  const table = useMemo(() => eventsTable(answer), [answer]);
  const remote = useRemoteTable(answer, shown, eventsTable);
  return (
    <DataTable
      id="memory-events"
      label={text.events}
      table={table}
      remote={remote}
      nameKey="operator"
      {...state}
      selected={selected?.kind === "op" ? selected.name : null}
      onSelect={(row, rows) => {
        const name = textAt(rows, "operator", row);
        if (name !== "") select({ kind: "op", name });
      }}
      renderExpanded={(row, rows) => <BlockDetails rows={rows} row={row} look={look} />}
    />
  );
}
