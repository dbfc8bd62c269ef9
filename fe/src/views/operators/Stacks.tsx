import { type OperatorStacksTable as Answer, tables, useTable } from "../../api";
import { count, duration } from "../../format";
import { t } from "../../i18n";
import { useTrace } from "../../state";
import { numberAt, rowCount, textAt } from "../../table";
import { Async, Code } from "../../ui";
import { Frames } from "./FrameList";
import { parseStack } from "./frames";

const text = t.operators;
/** Another operator's details would mislead while these are on their way. */
const DETAIL = { keep: false };

/** Beyond that the table, grouped by call stack, is the place to look. */
const MOST_STACKS = 100;

/** The distinct call stacks of one operator, the most expensive first. */
export function Stacks({ name, shape }: { name: string; shape: string | null }) {
  const { sel } = useTrace();
  const query = useTable(tables.operatorStacks(sel, name, shape), DETAIL);
  return (
    <section className="stacks">
      <h3>{text.stacks}</h3>
      <Async query={query}>{(answer) => <StackList answer={answer} />}</Async>
    </section>
  );
}

function StackList({ answer: { rows, ...answer } }: { answer: Answer }) {
  const withFrames = Array.from({ length: rowCount({ ...answer, rows }) }, (_, row) => row).filter(
    (row) => textAt(rows, "call_stack", row) !== "",
  );
  if (withFrames.length === 0) return <NoStack />;
  const shown = withFrames.slice(0, MOST_STACKS);
  const more = Math.max(answer.meta.total, withFrames.length) - shown.length;
  return (
    <>
      {shown.map((row, index) => (
        <details key={textAt(rows, "call_stack", row)} open={index === 0}>
          <summary>
            {text.stackHead(count(numberAt(rows, "calls", row)), times(rows, row))}{" "}
            <span className="muted">
              {text.frames(parseStack(textAt(rows, "call_stack", row)).length)}
            </span>
          </summary>
          <Frames stack={textAt(rows, "call_stack", row)} />
        </details>
      ))}
      {more > 0 && <p className="muted">{text.moreStacks(count(more))}</p>}
    </>
  );
}

export function NoStack() {
  return (
    <>
      <p className="muted">{text.stacksNone}</p>
      <Code text={text.stacksRemedy} />
    </>
  );
}

function times(rows: Answer["rows"], row: number): string {
  const host = text.stackHost(duration(numberAt(rows, "host_self_ns", row)));
  const device = numberAt(rows, "device_self_ns", row);
  return device === null ? host : `${text.stackDevice(duration(device))} · ${host}`;
}
