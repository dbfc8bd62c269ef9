/** What was in use at the moment: by line, stack, size, as a flame graph; and how long allocations live. */
import { useMemo, useState } from "react";
import { AnswerTable } from "../../answers/AnswerTable";
import { useTraceQuery } from "../../api";
import type { SnapshotStacksAnswer } from "../../api/schema.gen";
import { Treemap, treemapGroups } from "../../charts";
import { type FlameEntries, useLayout, ZoomedFlame } from "../../charts/flame";
import { bytes, count, fraction, frameLabel } from "../../format";
import { memoryTexts, snapshotTexts as text } from "../../i18n";
import { Choice } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { asDeclared, described, hasColumn, numberAt, type Table, textAt } from "../../table";
import { QueryPanel } from "../../ui";
import { AgainstPanel, OtherChoice, useOther } from "./Against";
import { LinkedAlivePanel } from "./LinkedAlive";
import { MomentChoice } from "./Moments";
import { params } from "./params";
import { asked, type Look } from "./useSnapshot";

export function AlivePanel({ look }: { readonly look: Look }) {
  const [tab] = useAddress(params.tab);
  const other = useOther();
  const actions = (
    <>
      <MomentChoice look={look} />
      <OtherChoice other={other} />
      <Choice param={params.tab} label={text.show} names={text.tabs} />
    </>
  );
  if (tab === "flame") return <FlamePanel look={look} actions={actions} />;
  if (tab === "lifetimes") return <LifetimesPanel look={look} actions={actions} />;
  if (other.chosen)
    return <AgainstPanel look={look} by={tab} other={other.chosen} actions={actions} />;
  const rows = <RowsPanel look={look} by={tab} actions={actions} />;
  if (tab !== "module" && tab !== "annotation") return rows;
  return (
    <>
      {rows}
      <LinkedAlivePanel look={look} by={tab} />
    </>
  );
}

/** Lines of the program as everywhere: the function first, the whole path on hover. */
function withBriefLines(table: Table): Table {
  return { ...table, columns: described(table.columns, { line: { brief: frameLabel } }) };
}

const shownTable = (answer: Table) => withBriefLines(asDeclared(answer));

interface PartProps {
  readonly look: Look;
  readonly actions: React.ReactNode;
}

type By = "line" | "stack" | "size" | "module" | "annotation";

function RowsPanel({ look, by, actions }: PartProps & { readonly by: By }) {
  const { sel } = useTrace();
  const question = { ...asked(look), at: look.at, by, since: look.since ?? undefined };
  const query = useTraceQuery("snapshot/alive", sel, question);
  // compared, the server puts first what differs most, in either direction
  const sort = look.since ? "" : "-bytes";
  return (
    <QueryPanel title={text.alive} help={text.aliveHelp} query={query} actions={actions}>
      {(answer) => (
        <>
          {by === "line" && !look.since && <Boxes rows={answer.rows} />}
          <AnswerTable
            key={by}
            id="snapshot-alive"
            label={text.alive}
            answer={answer}
            shape={shownTable}
            nameKey={hasColumn(answer, "group") ? "group" : "line"}
            filter={params.filter}
            sort={params.sort}
            order={sort}
          />
        </>
      )}
    </QueryPanel>
  );
}

/** Lines, and their blocks of each size. */
function Boxes({ rows }: Pick<Table, "rows">) {
  const groups = useMemo(() => {
    const numberOf = (key: string, row: number) => numberAt(rows, key, row) ?? 0;
    const parts = Array.from({ length: rows.bytes?.length ?? 0 }, (_, row) => ({
      group: frameLabel(textAt(rows, "line", row)),
      label: `${count(numberOf("blocks", row))} × ${bytes(numberOf("size", row))}`,
      value: numberOf("bytes", row),
    }));
    return treemapGroups(parts, (others) => memoryTexts.smallerBlocks(count(others)));
  }, [rows]);
  if (groups.length === 0) return null;
  return <Treemap title={memoryTexts.boxes} unit="bytes" groups={groups} head={text.boxesHead} />;
}

function LifetimesPanel({ look, actions }: PartProps) {
  const { sel } = useTrace();
  const query = useTraceQuery("snapshot/lifetimes", sel, asked(look));
  return (
    <QueryPanel title={text.tabs.lifetimes} query={query} actions={actions}>
      {(answer) => (
        <AnswerTable
          id="snapshot-lifetimes"
          label={text.tabs.lifetimes}
          answer={answer}
          shape={shownTable}
          nameKey="line"
          filter={params.filter}
          sort={params.sort}
          order="-bytes"
        />
      )}
    </QueryPanel>
  );
}

function FlamePanel({ look, actions }: PartProps) {
  const { sel } = useTrace();
  const [direction] = useAddress(params.direction);
  const [frames] = useAddress(params.frames);
  const query = useTraceQuery("snapshot/stacks", sel, {
    ...asked(look),
    at: look.at,
    direction,
    frames,
  });
  return (
    <QueryPanel title={text.alive} help={text.aliveHelp} query={query} actions={actions}>
      {(answer) => (
        <>
          <div className="row snapshot-flame-head">
            <Choice param={params.direction} label={text.direction} names={text.directions} />
            <Choice labelled param={params.frames} label={text.frames} names={text.framesOf} />
          </div>
          <Flame answer={answer} />
        </>
      )}
    </QueryPanel>
  );
}

interface TreeRows {
  readonly id: number[];
  readonly parent: number[];
  readonly name: string[];
  readonly self_bytes: number[];
  readonly total_bytes: number[];
  readonly blocks: number[];
  readonly folded: number[];
}

function Flame({ answer }: { readonly answer: SnapshotStacksAnswer }) {
  const rows = answer.rows as unknown as TreeRows;
  const all = answer.meta.all_bytes;
  const entries = useMemo<FlameEntries>(() => entriesOf(rows, all), [rows, all]);
  const layout = useLayout(entries, true);
  const [focus, setFocus] = useState(-1);
  const [selected, setSelected] = useState(-1);
  return (
    <ZoomedFlame
      title={text.tabs.flame}
      entries={entries}
      layout={layout}
      focus={focus}
      onFocus={setFocus}
      selected={selected}
      onSelect={setSelected}
      hits={null}
    />
  );
}

function entriesOf(rows: TreeRows, all: number): FlameEntries {
  const name = (row: number) => rows.name[row] ?? "";
  const numbers = (size: number | undefined) => ({
    value: bytes(size),
    share: fraction(all > 0 ? (size ?? 0) / all : null),
  });
  return {
    size: rows.id.length,
    parent: rows.parent,
    own: rows.self_bytes,
    name,
    kind: (row) => (rows.folded[row] ? "smaller" : "frame"),
    label: (row) => frameLabel(name(row)),
    tooltip: (row) => ({
      title: name(row),
      lines: [
        { label: text.flameTotal, ...numbers(rows.total_bytes[row]) },
        { label: text.flameSelf, ...numbers(rows.self_bytes[row]) },
        { label: text.tip.blocks, value: count(rows.blocks[row]) },
      ],
    }),
    spoken: (row) => text.spoken(name(row), bytes(rows.total_bytes[row])),
  };
}
