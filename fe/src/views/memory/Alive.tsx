import { useMemo } from "react";
import { AnswerTable } from "../../answers/AnswerTable";
import { type MemoryAliveTable, useTraceQuery } from "../../api";
import { Treemap, treemapGroups } from "../../charts";
import { momentIn } from "../../draw";
import { partColor } from "../../draw/parts";
import { bytes, count, exact, fraction } from "../../format";
import { noteText, memoryTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { numberAt, type Rows, rowCount, textAt, useDelayed } from "../../table";
import { Button, PartsBar, QueryPanel, Swatch } from "../../ui";
import { BlockDetails } from "./BlockDetails";
import { aliveTable, holdersTable } from "./columns";
import { MOST_BLOCKS, type Moment } from "./look";
import { params } from "./params";
import type { TableProps } from "./RangeLine";

const SETTLE_MS = 120;

interface Props extends TableProps {
  /** By operator; else block by block. */
  readonly grouped: boolean;
  /** Null when there is no curve to have a peak, and while it is not known. */
  readonly moment: Moment | null;
}

export function AlivePanel({ look, device, tabs, grouped, moment }: Props) {
  const { sel } = useTrace();
  // The peak itself is left to the server: more may have happened in the same nanosecond.
  const at = moment === null || moment.kind === "peak" ? null : moment.time;
  const query = useTraceQuery("memory/alive", device === null ? null : sel, {
    device,
    at_ns: useDelayed(at, SETTLE_MS),
    limit: MOST_BLOCKS,
  });
  return (
    <QueryPanel
      title={text.alive}
      help={text.aliveHelp}
      query={query}
      actions={tabs}
      empty={({ meta }) => {
        const note = meta.notes.find(({ kind }) => kind === "no_memory_addresses");
        return note ? { reason: noteText(note) } : null;
      }}
    >
      {(answer) => (
        <>
          <Sum answer={answer} look={look} kind={moment?.kind ?? "peak"} />
          <Blocks answer={answer} look={look} grouped={grouped} />
        </>
      )}
    </QueryPanel>
  );
}

function Blocks({ answer, look, grouped }: Pick<Props, "look" | "grouped"> & AnswerProps) {
  const { total } = answer.meta;
  const listed = rowCount(answer);
  return (
    <>
      {listed < total && (
        <p className="memory-notice" role="status">
          {text.onlyLargest(count(listed), count(total))}
        </p>
      )}
      <Boxes answer={answer} />
      <AnswerTable
        id={grouped ? "memory-holders" : "memory-alive"}
        label={text.alive}
        answer={answer}
        shape={grouped ? holdersTable : aliveTable}
        nameKey="operator"
        filter={params.filter}
        sort={params.sort}
        order="-bytes"
        kind="op"
        nameOf={(name) => (name === text.beforeRecording ? "" : name)}
        {...(!grouped && {
          renderExpanded: (row: number, rows: Rows) => (
            <BlockDetails rows={rows} row={row} look={look} />
          ),
        })}
      />
    </>
  );
}

/** The blocks by what asked for them. */
function Boxes({ answer: { rows } }: AnswerProps) {
  const groups = useMemo(() => {
    const parts = Array.from({ length: rows.bytes?.length ?? 0 }, (_, row) => {
      const value = numberAt(rows, "bytes", row) ?? 0;
      const operator = textAt(rows, "operator", row) || text.outside;
      return { group: textAt(rows, "parent", row) || operator, label: bytes(value), value };
    });
    return treemapGroups(parts, (others) => text.smallerBlocks(count(others)));
  }, [rows]);
  if (groups.length === 0) return null;
  return <Treemap title={text.boxes} unit="bytes" groups={groups} head={text.boxesHead} />;
}

interface AnswerProps {
  readonly answer: MemoryAliveTable;
}

interface SumProps extends AnswerProps, Pick<Props, "look"> {
  readonly kind: Moment["kind"];
}

/** In use = known + unknown, as numbers and as a bar. */
function Sum({ answer: { meta }, look, kind }: SumProps) {
  const { at, known_bytes: known = 0, unknown_bytes: unknown = 0, total } = meta;
  if (!at) return null;
  const moment = momentIn(at.time_ns, look.range ?? look.whole);
  const share = (part: number) => (at.allocated > 0 ? part / at.allocated : 0);
  const parts = [
    {
      key: "known",
      color: partColor("memory.in_use"),
      size: known,
      label: `${text.known} (${text.blocksAlive(count(total))})`,
    },
    { key: "unknown", color: "var(--series-rest)", size: unknown, label: text.unknown },
  ];
  return (
    <div className="memory-sum num">
      <p className="row">
        <strong title={exact(at.time_ns, "ns")}>{text.at[kind](moment)}</strong>{" "}
        <span title={exact(at.allocated, "bytes")}>
          {bytes(at.allocated)} {text.inUse}
        </span>
        {look.cursor !== null && (
          <Button onClick={() => look.setCursor(null)}>{text.backToPeak}</Button>
        )}
      </p>
      <PartsBar parts={parts} />
      <ul>
        {parts.map(({ key, size, label, color }) => (
          <li key={key}>
            <Swatch color={color} />
            <strong title={exact(size, "bytes")}>{bytes(size)}</strong> {label}{" "}
            <span className="muted">{fraction(share(size))}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
