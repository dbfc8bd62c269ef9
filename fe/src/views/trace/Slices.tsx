import { type FormEvent, useDeferredValue, useId, useMemo, useState } from "react";
import { type SlicesTable, useSlices } from "../../api";
import type { TimeWindow } from "../../draw";
import { bareName, count } from "../../format";
import { traceTexts as text } from "../../i18n";
import { change, goToView, type Param, setAddress, useAddress, useTrace } from "../../state";
import { rowCount, SimpleTable, type Table, textAt } from "../../table";
import { Async, Button, Combo, Link, Panel } from "../../ui";
import { WINDOW } from "./look";
import { params } from "./params";
import { PICKABLE } from "./pickedSlice";
import { milliseconds, windowOf } from "./window";

const PAGE = 100;

/** The longest events, a page at a time: the server looks through them, so a trace of millions is no matter. */
export function Slices() {
  const { sel } = useTrace();
  const [name] = useAddress(params.search);
  const [category] = useAddress(params.category);
  const [window] = useAddress(params.window);
  const [page, setPage] = useAddress(params.page);
  const query = useSlices(sel, {
    name: useDeferredValue(name) || null,
    category: category in text.categories ? category : null,
    start_ns: window?.start ?? null,
    end_ns: window?.end ?? null,
    offset: page * PAGE,
    limit: PAGE,
  });
  /** Another question begins with its first page. */
  const first = <T,>(param: Param<T>) => {
    return (value: T) => setAddress(change(param, value), change(params.page, 0));
  };
  const reset = () =>
    setAddress(
      change(params.search, ""),
      change(params.category, ""),
      change(params.window, null),
      change(params.page, 0),
    );
  const meta = query.data?.meta;
  return (
    <Panel title={text.slices} help={text.slicesHelp}>
      {/* Beside the answer, which cannot be worked in while the next one is on its way. */}
      {meta && meta.categories.length > 0 && (
        <Filters
          meta={meta}
          name={name}
          onName={first(params.search)}
          category={category}
          onCategory={first(params.category)}
          window={window}
          onWindow={first(params.window)}
        />
      )}
      <Async
        query={query}
        empty={({ meta: { categories } }) =>
          categories.length === 0
            ? { title: text.empty, reason: text.emptyReason, remedy: text.emptyRemedy }
            : null
        }
      >
        {(answer) =>
          rowCount(answer) === 0 ? (
            <p className="muted">
              {text.noMatch} <Link onClick={reset}>{text.reset}</Link>
            </p>
          ) : (
            <>
              <Pages answer={answer} page={page} onPage={setPage} />
              <SliceRows answer={answer} />
            </>
          )
        }
      </Async>
    </Panel>
  );
}

interface FiltersProps {
  readonly meta: SlicesTable["meta"];
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly category: string;
  readonly onCategory: (category: string) => void;
  readonly window: TimeWindow | null;
  readonly onWindow: (window: TimeWindow | null) => void;
}

function Filters({ meta, window, onWindow, ...props }: FiltersProps) {
  const id = useId();
  return (
    <div className="trace-filters">
      <label htmlFor={`${id}name`}>{text.filter}</label>
      <input
        id={`${id}name`}
        type="search"
        className="trace-field trace-name"
        autoComplete="off"
        spellCheck={false}
        value={props.name}
        onChange={(event) => props.onName(event.target.value)}
      />
      <Combo
        label={text.category}
        value={props.category in text.categories ? props.category : ""}
        options={[
          { value: "", label: text.allCategories },
          ...meta.categories.map(({ category, slices }) => ({
            value: category,
            label: text.categoryOption(text.categories[category] ?? category, count(slices)),
          })),
        ]}
        onChange={props.onCategory}
      />
      <WindowFields
        key={WINDOW.format(window)}
        window={window}
        end_ns={meta.duration_ns}
        onWindow={onWindow}
      />
    </div>
  );
}

interface WindowProps {
  readonly window: TimeWindow | null;
  readonly end_ns: number;
  readonly onWindow: (window: TimeWindow | null) => void;
}

function WindowFields({ window, end_ns, onWindow }: WindowProps) {
  const [from, setFrom] = useState(window ? milliseconds(window.start) : "");
  const [to, setTo] = useState(window ? milliseconds(window.end) : "");
  const id = useId();
  const wanted = windowOf(from, to, end_ns);
  const wrong = wanted === "wrong";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted !== "wrong") onWindow(wanted);
  };
  const field = (name: string, value: string, set: (value: string) => void) => (
    <>
      <label htmlFor={`${id}${name}`}>{name}</label>
      <input
        id={`${id}${name}`}
        className="trace-field trace-time num"
        inputMode="decimal"
        autoComplete="off"
        aria-invalid={wrong}
        aria-describedby={wrong ? `${id}wrong` : undefined}
        value={value}
        onChange={(event) => set(event.target.value)}
      />
    </>
  );
  return (
    <form className="trace-window" onSubmit={submit}>
      {field(text.from, from, setFrom)}
      {field(text.to, to, setTo)}
      <Button
        type="submit"
        disabled={wanted === "wrong" || WINDOW.format(wanted) === WINDOW.format(window)}
      >
        {text.apply}
      </Button>
      {window && (
        <Button quiet onClick={() => onWindow(null)}>
          {text.clear}
        </Button>
      )}
      {wrong && (
        <span id={`${id}wrong`} className="trace-wrong" role="status">
          {text.wrongWindow}
        </span>
      )}
    </form>
  );
}

interface PagesProps {
  readonly answer: SlicesTable;
  readonly page: number;
  readonly onPage: (page: number) => void;
}

function Pages({ answer, page, onPage }: PagesProps) {
  const { offset, total } = answer.meta;
  const last = offset + rowCount(answer);
  return (
    <div className="trace-pages">
      <span className="muted num" role="status">
        {text.shown(count(offset + 1), count(last), count(total))}
      </span>
      <Button disabled={page === 0} onClick={() => onPage(page - 1)}>
        {text.previous}
      </Button>
      <Button disabled={last >= total} onClick={() => onPage(page + 1)}>
        {text.next}
      </Button>
    </div>
  );
}

function SliceRows({ answer }: { answer: SlicesTable }) {
  const table = useMemo(() => sliceTable(answer), [answer]);
  return (
    // A region that scrolls must be reachable by keyboard.
    <section className="trace-slices" tabIndex={0} aria-label={text.slicesList}>
      <SimpleTable
        caption={text.slices}
        table={table}
        renderName={(row, label) => {
          const kind = PICKABLE[textAt(answer.rows, "category", row)];
          const name = textAt(answer.rows, "name", row);
          if (kind === undefined) return <span title={name}>{label}</span>;
          return (
            <Link
              title={kind === "op" ? text.showOperator(name) : text.showKernel(name)}
              onClick={() => goToView(kind === "op" ? "operators" : "kernels", { kind, name })}
            >
              {label}
            </Link>
          );
        }}
      />
    </section>
  );
}

/** The name first, the number of the event last; categories by their names. */
function sliceTable({ columns, rows }: SlicesTable): Table {
  const order = ["name", "category", "track", "start_ns", "duration_ns", "row"];
  return {
    columns: order.flatMap((key) => {
      const column = columns.find((each) => each.key === key);
      return column ? [key === "name" ? { ...column, brief: bareName } : column] : [];
    }),
    rows: {
      ...rows,
      category: (rows.category ?? []).map((cell) => text.categories[String(cell)] ?? cell),
    },
  };
}
