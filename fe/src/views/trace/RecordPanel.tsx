/** A record of the memory snapshot: what the allocator did, where in the program, and what was in use after it. */
import type { SnapshotRecord } from "../../api/snapshotTracks";
import { momentIn } from "../../draw";
import { bytes, count, exact, frameLabel } from "../../format";
import { timelineTexts, traceTexts } from "../../i18n";
import { goToView, selectTrace, viewName } from "../../state";
import { Button, Fact, Facts, QueryPanel } from "../../ui";
import { Frames } from "./Details";
import { useModel, useRecord, useTraceState } from "./useTraceModel";

const text = traceTexts.snapshot;

export function RecordPanel() {
  const { pickRecord } = useModel();
  const query = useRecord(useTraceState());
  return (
    <QueryPanel
      title={text.record}
      help={text.recordHelp}
      query={query}
      actions={<Button onClick={() => pickRecord(null)}>{traceTexts.clear}</Button>}
    >
      {(answer) => <Record answer={answer} />}
    </QueryPanel>
  );
}

function Record({ answer }: { readonly answer: SnapshotRecord }) {
  const { pickRecord } = useModel();
  const { rank, of: drawn, time } = useTraceState().record;
  const of = drawn?.key;
  const { position, last } = answer;
  const whole = rank && { start: rank.meta.begin_ns, end: rank.meta.end_ns };
  const inside = whole && time !== null && time >= whole.start && time <= whole.end;
  const to = (next: number) => {
    if (rank) pickRecord({ worker: rank.worker, at: { type: "record", position: next } });
  };
  const did = text.actions[answer.action] ?? answer.action;
  return (
    <div className="trace-details">
      <div className="trace-details-main">
        <h3 className="trace-details-name">
          {did}
          {answer.bytes !== null && answer.action !== "snapshot" && ` ${bytes(answer.bytes)}`}
          {answer.line !== "" && <span className="muted"> {frameLabel(answer.line)}</span>}
        </h3>
        <div className="trace-downloads">
          <Button
            disabled={!of}
            onClick={() => {
              if (!of) return;
              selectTrace({ run: of.run, worker: of.worker, span: of.span });
              goToView("snapshot", null, { at: String(position), device: String(of.device) });
            }}
          >
            {text.showMoment(viewName("snapshot"))}
          </Button>
          <Button disabled={position <= 0} onClick={() => to(position - 1)}>
            ‹ {text.previous}
          </Button>
          <Button disabled={position >= last} onClick={() => to(position + 1)}>
            {text.next} ›
          </Button>
        </div>
        <Facts>
          <Fact name={text.number}>{text.recordOf(count(position), count(last))}</Fact>
          <Fact name={timelineTexts.time} title={time === null ? undefined : exact(time, "ns")}>
            {time === null
              ? text.noTime
              : inside
                ? momentIn(time, { start: 0, end: whole.end }, 1e9)
                : text.outside}
          </Fact>
          {answer.curves.map(({ kind, bytes: size, exact: isExact }) => (
            <Fact key={kind} name={text.curves[kind]} title={exact(size, "bytes")}>
              {isExact ? bytes(size) : timelineTexts.snapshot.atLeast(bytes(size))}
            </Fact>
          ))}
          {answer.device_free !== null && (
            <Fact name={text.deviceFree}>{bytes(answer.device_free)}</Fact>
          )}
          {answer.address !== "" && <Fact name={text.address}>{answer.address}</Fact>}
          {answer.stream !== null && <Fact name={text.stream}>{String(answer.stream)}</Fact>}
          {answer.annotation !== "" && <Fact name={text.annotation}>{answer.annotation}</Fact>}
          {answer.compiled !== "" && <Fact name={text.compiled}>{answer.compiled}</Fact>}
          {answer.metadata !== "" && <Fact name={text.metadata}>{answer.metadata}</Fact>}
        </Facts>
      </div>
      <Frames title={text.stack} frames={answer.frames} />
    </div>
  );
}
