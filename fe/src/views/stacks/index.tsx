/** Where the time goes by call stack. */
import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { StackRows, StacksTable, StackWeight } from "../../api";
import { found, KINDS, Legend, useLayout, ZoomedFlame } from "../../charts/flame";
import { count, duration, fraction } from "../../format";
import { flameTexts, stacksTexts as text } from "../../i18n";
import { Choice, NoteList } from "../../shell";
import { change, setAddress, useAddress, useTableParams } from "../../state";
import { FilterBox, TreeTable, useMatches } from "../../table";
import { Crumbs, Help, Link, QueryPanel, Segmented } from "../../ui";
import { Details } from "./Details";
import { Files } from "./Files";
import { entriesOf, kindsOf, labelOf } from "./looks";
import { params } from "./params";
import { largestOwn, stackTable, withAbove } from "./rows";
import { Threads } from "./Threads";
import { useZoom } from "./useZoom";
import "./stacks.css";

const NOTHING = { title: text.empty, reason: text.emptyReason, remedy: text.emptyRemedy };

export default function Stacks() {
  const [weight] = useAddress(params.weight);
  const [mode] = useAddress(params.mode);
  const [files] = useAddress(params.files);
  const [root, setRoot] = useAddress(params.zoom);
  const [backward] = useAddress(params.backward);
  const [thread] = useAddress(params.thread);
  const { query, shown, gone } = useZoom(
    {
      weight: weight ?? undefined,
      direction: mode === "bottom_up" ? "bottom_up" : "top_down",
      files,
      withForward: backward === "with_forward",
      // Anything else is no thread of any trace.
      thread: /^\d{1,9}$/.test(thread) ? thread : "",
    },
    root,
  );
  return (
    <QueryPanel
      title={text.title}
      help={text.help}
      query={query}
      empty={(data) => (data.meta.entries === 0 ? NOTHING : null)}
      actions={<Actions meta={query.data?.meta} />}
    >
      {(answer) => (
        <Shown answer={answer} drawn={shown ?? answer} gone={gone} root={root} onRoot={setRoot} />
      )}
    </QueryPanel>
  );
}

/** Which stacks, and how they are shown. */
function Actions({ meta }: { meta: StacksTable["meta"] | undefined }) {
  const [, setWeight] = useAddress(params.weight);
  const [mode] = useAddress(params.mode);
  const [backward] = useAddress(params.backward);
  const weights = meta?.weights ?? [];
  // What is zoomed into from the top is something else seen from the bottom.
  const chooseMode = (next: typeof mode) => {
    const turned = (next === "bottom_up") !== (mode === "bottom_up");
    setAddress(change(params.mode, next), ...(turned ? [change(params.zoom, 0)] : []));
  };
  return (
    <>
      {weights.length > 1 && (
        <Segmented
          label={text.weight}
          value={meta?.weight ?? "host"}
          options={weights}
          names={text.weights}
          onChange={(next: StackWeight) => setWeight(next === weights[0] ? null : next)}
        />
      )}
      <Choice param={params.mode} label={text.mode} names={text.modes} onChange={chooseMode} />
      {(backward === "with_forward" || meta?.has_backward) && (
        <Choice param={params.backward} label={text.backward} names={text.backwards} />
      )}
      <Choice param={params.show} label={text.show} names={text.shows} />
    </>
  );
}

interface ShownProps {
  readonly answer: StacksTable;
  /** What is zoomed into. */
  readonly drawn: StacksTable;
  /** What was zoomed into is not there any more. */
  readonly gone: boolean;
  readonly root: number;
  readonly onRoot: (root: number) => void;
}

function Shown({ answer, drawn, gone, root, onRoot }: ShownProps) {
  const [mode] = useAddress(params.mode);
  const [show] = useAddress(params.show);
  const fields = (
    <>
      <Threads
        meta={answer.meta}
        // What is zoomed into may not be on another thread.
        onChange={(next) => setAddress(change(params.thread, next), change(params.zoom, 0))}
      />
      <Files />
    </>
  );
  const stacks = { answer: drawn, root, onRoot, files: fields };
  return (
    <div className="stacks">
      <Most answer={drawn} onRoot={onRoot} />
      <Totals answer={drawn} />
      {!drawn.meta.has_frames && (
        <NoteList notes={drawn.meta.notes.filter(({ kind }) => kind === "no_stacks")} />
      )}
      {gone && (
        <p className="stacks-gone" role="status">
          {text.gone}
        </p>
      )}
      {show === "table" ? (
        <StackTree {...stacks} />
      ) : (
        <StackFlame {...stacks} heavy={mode !== "top_down"} />
      )}
    </div>
  );
}

/** What has most time of its own over all stacks; a click zooms into the largest of them. */
function Most({ answer, onRoot }: { answer: StacksTable; onRoot: (root: number) => void }) {
  const { meta, rows } = answer;
  const most = useMemo(() => largestOwn(answer), [answer]);
  if (!most) return null;
  const { row, ns: time } = most;
  const name = rows.name[row] ?? "";
  return (
    <p className="sentence">
      {text.most(text.weights[meta.weight])}
      <Link title={name} onClick={() => onRoot(rows.id[row] ?? 0)}>
        {labelOf(rows.kind[row] ?? "other", name, rows.short_name[row])}
      </Link>
      {text.mostTakes(duration(time), fraction(time / meta.all_ns))}
    </p>
  );
}

function Totals({ answer: { meta } }: { answer: StacksTable }) {
  const { weight, all_ns: all, no_stack_ns: none } = meta;
  return (
    <p className="stacks-totals">
      <span>
        {text.whole(
          text.weights[weight],
          duration(all),
          count(meta.entries),
          meta.threads.find(({ id }) => id === meta.thread)?.name ?? text.threads,
        )}
      </span>
      {none > 0 && (
        <span>
          {text.noStack(duration(none), fraction(none / all))}{" "}
          <Help title={text.noStackHelpTitle}>{text.noStackHelp}</Help>
        </span>
      )}
    </p>
  );
}

interface PartProps {
  readonly answer: StacksTable;
  /** Id of what is zoomed into, 0 for everything. */
  readonly root: number;
  readonly onRoot: (root: number) => void;
  /** The fields for threads and files, which stand beside the search. */
  readonly files: ReactNode;
}

function useRows(answer: StacksTable) {
  return useMemo(() => {
    const rows = withAbove(answer);
    return { rows, table: stackTable(answer, rows) };
  }, [answer]);
}

function StackFlame({
  answer,
  heavy,
  root,
  onRoot,
  files,
}: PartProps & { readonly heavy: boolean }) {
  const [filter, setFilter] = useAddress(params.filter);
  const [chosen, setChosen] = useState(0);
  const { rows, table } = useRows(answer);
  const entries = useMemo(() => entriesOf(answer, rows), [answer, rows]);
  const layout = useLayout(entries, heavy);
  const { hits, problem } = useMatches(table, filter);
  const focus = root ? rows.id.indexOf(root) : -1;
  const selected = chosen ? rows.id.indexOf(chosen) : -1;
  const setFocus = (row: number) => onRoot(rows.id[row] ?? 0);
  const hit = hits && found(layout, hits, focus);
  const { meta } = answer;
  return (
    <>
      <div className="stacks-search">
        <FilterBox label={text.filter} filter={filter} onFilter={setFilter} problem={problem} />
        {files}
        <span role="status" className="stacks-found">
          {hit &&
            (hit.entries > 0
              ? flameTexts.found(count(hit.entries), fraction(hit.share))
              : flameTexts.foundNone)}
        </span>
      </div>
      <ZoomedFlame
        title={text.title}
        entries={entries}
        layout={layout}
        focus={focus}
        onFocus={setFocus}
        selected={selected}
        onSelect={(row) => setChosen(rows.id[row] ?? 0)}
        hits={hits}
      />
      <div className="stacks-foot">
        <Legend kinds={kindsOf(rows, KINDS)} />
        {rows.folded.some((n) => n > 0) && (
          <span className="muted">{text.folded(duration(meta.limit_ns))}</span>
        )}
      </div>
      <Details answer={answer} rows={rows} row={selected >= 0 ? selected : focus} />
    </>
  );
}

/** Rows with this share of the time are open, so that the table shows where it goes. */
const HOT = 0.1;

function StackTree({ answer, root, onRoot, files }: PartProps) {
  const state = useTableParams(params.filter, params.sort);
  const [expansion, setExpansion] = useAddress(params.expansion);
  const [chosen, setChosen] = useState(root);
  const { rows, table } = useRows(answer);
  const selected = chosen ? rows.id.indexOf(chosen) : -1;
  const focus = root ? rows.id.indexOf(root) : -1;
  const hot = answer.meta.whole_ns * HOT;
  const usuallyOpen = useCallback((row: number) => (rows.total_ns[row] ?? 0) >= hot, [rows, hot]);
  return (
    <>
      <div className="stacks-search">{files}</div>
      <Crumbs
        root={-1}
        chain={chain(rows, focus).map((row) => ({ key: row, label: rows.name[row] ?? "" }))}
        onFocus={(row) => onRoot(rows.id[row] ?? 0)}
      />
      <TreeTable
        id="stacks"
        label={text.filter}
        table={table}
        parent={rows.parent}
        keys={rows.id}
        {...state}
        usuallyOpen={usuallyOpen}
        expansion={expansion}
        onExpansion={setExpansion}
        selected={selected}
        onSelect={(row) => setChosen(rows.id[row] ?? 0)}
      />
      <Details
        answer={answer}
        rows={rows}
        row={selected >= 0 ? selected : focus}
        onZoom={(row) => onRoot(rows.id[row] ?? 0)}
      />
    </>
  );
}

function chain(rows: StackRows, row: number): number[] {
  const found: number[] = [];
  for (let r = row; r >= 0; r = rows.parent[r] ?? -1) found.unshift(r);
  return found;
}
