/** The median step, drawn: what host, devices and collectives did side by side, why devices idled, where findings are. */
import { useCallback, useMemo } from "react";
import { type StepPicture as Answer, type TraceKey, useTraceQuery } from "../../api";
import { Lanes } from "../../charts";
import { summary } from "../../charts/summary";
import { partColor, partName } from "../../draw/parts";
import { count, duration, exact, fraction } from "../../format";
import { overviewTexts } from "../../i18n";
import { showInTrace } from "../../shell/findings";
import { Empty, QueryPanel } from "../../ui";
import { type Line, pinsIn } from "./lines";
import { laneName, legendOf, marksOf, timeOf } from "./picture";

const text = overviewTexts.picture;

interface Props {
  readonly sel: TraceKey | null;
  /** There is no other step. */
  readonly isOnly: boolean;
  /** The findings in sight: those with a place in the step have a pin. */
  readonly lines: readonly Line[];
  /** Opens the details of one. */
  readonly onPin: (line: Line) => void;
  /** How the steps were found. */
  readonly actions: React.ReactNode;
}

export function StepPicture({ sel, isOnly, lines, onPin, actions }: Props) {
  const query = useTraceQuery("step_picture", sel);
  const step = query.data?.step ?? null;
  return (
    <QueryPanel
      className="area-picture"
      title={isOnly ? text.only : text.title}
      help={text.help}
      actions={
        <>
          {query.data && step !== null && (
            <span className="muted num">{text.which(step, duration(query.data.duration_ns))}</span>
          )}
          {actions}
        </>
      }
      query={query}
    >
      {(answer) =>
        answer.step === null ? (
          <Empty reason={text.none} remedy={text.remedy} />
        ) : (
          <Drawn answer={answer} worker={sel?.worker ?? ""} lines={lines} onPin={onPin} />
        )
      }
    </QueryPanel>
  );
}

interface DrawnProps extends Pick<Props, "lines" | "onPin"> {
  readonly answer: Answer;
  readonly worker: string;
}

function Drawn({ answer, worker, lines, onPin }: DrawnProps) {
  const { start_ns: start, duration_ns: length, devices, lanes } = answer;
  const end = start + length;
  const pins = useMemo(() => pinsIn(lines, worker, { start, end }), [lines, worker, start, end]);
  const marks = useMemo(() => marksOf(answer), [answer]);
  const data = useMemo(
    () => ({
      start,
      end,
      pins: pins.map(({ number, place }) => ({ time: place.start_ns, label: String(number) })),
      lanes: lanes.map((lane, at) => ({
        label: laneName(lane),
        size:
          lane.kind === "phases" || lane.kind === "communication"
            ? ("thin" as const)
            : ("wide" as const),
        marks: (marks[at] ?? []).map(({ part, from, to }) => ({
          start: from,
          end: to,
          color: partColor(part),
          label: part === "communication" ? "" : partName(part),
          low: part.startsWith("idle"),
        })),
      })),
    }),
    [start, end, pins, lanes, marks],
  );
  const flat = useMemo(() => marks.flat(), [marks]);
  const legend = useMemo(
    () =>
      legendOf(answer).map((part) => ({
        key: part,
        label: partName(part),
        color: partColor(part),
        shown: true,
      })),
    [answer],
  );
  const markAt = (index: number) => flat[index - pins.length];
  const tip = useCallback(
    (index: number) => {
      const pin = pins[index];
      if (pin) return { title: text.pin(pin.number, pin.title), lines: [] };
      const mark = flat[index - pins.length];
      if (!mark) return { title: "", lines: [] };
      return {
        title: partName(mark.part),
        ...(mark.name === null ? {} : { subtitle: mark.name }),
        lines: [
          { label: mark.lane, value: duration(mark.to - mark.from) },
          { label: text.at, value: duration(mark.from - start) },
          ...(mark.count > 1 ? [{ label: text.merged, value: count(mark.count) }] : []),
        ],
      };
    },
    [pins, flat, start],
  );
  const onPick = (index: number) => {
    const pin = pins[index];
    const mark = markAt(index);
    if (pin) onPin(pin);
    else if (mark)
      showInTrace(
        { start_ns: mark.from, duration_ns: mark.to - mark.from },
        mark.row < 0 ? null : mark.row,
      );
  };
  const most = timeOf(answer, lanes.some(({ kind }) => kind === "device") ? "device" : "host");
  return (
    <>
      <Lanes
        title={text.title}
        summary={summary(
          text.title,
          most.map(({ part, ns }) => ({ label: partName(part), value: ns })),
          "ns",
          most.reduce((sum, { ns }) => sum + ns, 0),
        )}
        keys={text.keys}
        data={data}
        legend={legend}
        tip={tip}
        onPick={onPick}
        head={[text.lane, text.part, text.at, text.duration, text.share, text.merged]}
        tableRows={() =>
          flat.map(({ lane, part, from, to, count: merged }) => ({
            cells: [
              lane,
              partName(part),
              exact(from - start, "ns"),
              exact(to - from, "ns"),
              fraction((to - from) / length),
              count(merged),
            ],
          }))
        }
      />
      {devices > lanes.filter(({ kind }) => kind === "device").length && (
        <p className="muted">
          {text.devices(lanes.filter(({ kind }) => kind === "device").length, devices)}
        </p>
      )}
    </>
  );
}
