import { type FormEvent, useId, useMemo, useState } from "react";
import { type MemoryEventsTable, useMemoryEvents } from "../../api";
import { bytes, count, parseBytes } from "../../format";
import { noteText, t } from "../../i18n";
import { useParam, useSelected, useSelection } from "../../state";
import { PagedTable, parsePage, textAt } from "../../table";
import { QueryPanel } from "../../ui";
import { BlockDetails } from "./BlockDetails";
import { eventsTable } from "./columns";
import { formatSizes, PAGE, parseSizes, type Sizes } from "./look";
import { RangeLine, type TableProps } from "./Tables";
import { useSettled } from "./useSettled";

const text = t.memory;
const SETTLE_MS = 250;

export function EventsPanel({ look, device, tabs }: TableProps) {
  const { sel } = useSelection();
  const [operator] = useParam<string>("q", "");
  const [sizes] = useParam<string>("n", "");
  const [order] = useParam<string>("o", "");
  const [page] = useParam<string>("p", "");
  const { min, max } = parseSizes(sizes);
  const query = useMemoryEvents(sel, device, {
    range: look.range,
    operator: useSettled(operator, SETTLE_MS),
    min,
    max,
    order: order.split(",")[0] ?? "",
    offset: parsePage(page) * PAGE,
    limit: PAGE,
  });
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
      {(answer) => <Rows answer={answer} look={look} />}
    </QueryPanel>
  );
}

function Rows({ answer, look }: { answer: MemoryEventsTable } & Pick<TableProps, "look">) {
  const [sort, setSort] = useParam<string>("o", "");
  const [, setPage] = useParam<string>("p", "");
  const [selected, select] = useSelected();
  const table = useMemo(() => eventsTable(answer), [answer]);
  const { total, in_range: inRange, offset } = answer.meta;
  return (
    <>
      <p className="memory-line-of-text num">
        <RangeLine look={look} />
        {total < inRange && <span>{text.filtered(count(total), count(inRange))}</span>}
      </p>
      <PagedTable
        id="memory-events"
        label={text.events}
        table={table}
        total={total}
        offset={offset}
        size={PAGE}
        onPage={(page) => setPage(page === 0 ? "" : String(page + 1))}
        nameKey="operator"
        sort={sort}
        onSort={(next) => {
          setSort(next);
          setPage("");
        }}
        filters={<Filters />}
        selected={selected?.kind === "op" ? selected.name : null}
        onSelect={(row) => {
          const name = textAt(table.rows, "operator", row);
          if (name !== "") select({ kind: "op", name });
        }}
        renderExpanded={(row) => <BlockDetails rows={table.rows} row={row} look={look} />}
      />
    </>
  );
}

/** The server filters: what matches may be on another page. */
function Filters() {
  const [operator, setOperator] = useParam<string>("q", "");
  const [sizes, setSizes] = useParam<string>("n", "");
  const [, setPage] = useParam<string>("p", "");
  const limits = parseSizes(sizes);
  const narrow = (next: Sizes) => {
    setSizes(formatSizes(next));
    setPage("");
  };
  return (
    <div className="memory-filters">
      <input
        type="search"
        data-filter=""
        className="filter-input"
        aria-label={text.filterName}
        placeholder={text.filterHint}
        autoComplete="off"
        spellCheck={false}
        value={operator}
        onChange={(event) => {
          setOperator(event.target.value);
          setPage("");
        }}
      />
      <SizeField
        label={text.minSize}
        limit={limits.min}
        onLimit={(min) => narrow({ ...limits, min })}
      />
      <SizeField
        label={text.maxSize}
        limit={limits.max}
        onLimit={(max) => narrow({ ...limits, max })}
      />
      {(operator !== "" || sizes !== "") && (
        <button
          type="button"
          className="link"
          onClick={() => {
            setOperator("");
            narrow({ min: null, max: null });
          }}
        >
          {text.clearFilters}
        </button>
      )}
    </div>
  );
}

interface SizeProps {
  readonly label: string;
  readonly limit: number | null;
  readonly onLimit: (limit: number | null) => void;
}

/** Taken over on Enter and when the field is left. */
function SizeField({ label, limit, onLimit }: SizeProps) {
  const written = limit === null ? "" : writtenSize(limit);
  // Null when nobody is typing: the field follows the address.
  const [draft, setDraft] = useState<string | null>(null);
  const id = useId();
  const shown = draft ?? written;
  const read = shown.trim() === "" ? null : parseBytes(shown);
  const wrong = shown.trim() !== "" && (read === null || read < 0);
  const take = () => {
    if (wrong) return;
    setDraft(null);
    if (draft !== null && read !== limit) onLimit(read);
  };
  return (
    <form
      className="memory-size"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        take();
      }}
    >
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="filter-input"
        placeholder={text.sizeHint}
        autoComplete="off"
        aria-invalid={wrong}
        value={shown}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={take}
      />
    </form>
  );
}

/** With a unit where that loses nothing. */
function writtenSize(limit: number): string {
  const short = bytes(limit);
  return parseBytes(short) === limit ? short : String(limit);
}
