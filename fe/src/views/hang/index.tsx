/** Why a job hangs: who stopped it, who waits for whom, and how far each rank and process group came. */
import { useMemo } from "react";
import { type Hang as Answer, useHang } from "../../api";
import { Waits } from "../../charts";
import { count, MISSING, rangesOf } from "../../format";
import { hangText, reasonText } from "../../i18n";
import { t } from "../../i18n/current";
import { hang as text } from "../../i18n/en/hang";
import { goToView, selectTrace, useTrace } from "../../state";
import { ListTable } from "../../table";
import { Flow, Link, Panel, QueryPanel } from "../../ui";
import { ranksName, type Together, together, waitsData } from "./waits";
import "../../ui/lines.css";
import "./hang.css";

/** Rows of a table, and boxes of the picture. */
const MOST = 200;
const MOST_BOXES = 40;

export default function Hang() {
  const { run } = useTrace();
  const query = useHang(run);
  return (
    <Flow>
      <QueryPanel title={text.question} help={text.questionHelp} query={query} className="across">
        {(answer) => <Verdict answer={answer} run={run?.name ?? ""} />}
      </QueryPanel>
      {query.data && <Details answer={query.data} />}
    </Flow>
  );
}

function Verdict({ answer, run }: { answer: Answer; run: string }) {
  const { report, sentence, evidence, joined } = answer;
  const between = t.lang === "en" ? " " : "";
  return (
    <>
      <p className="lead">{sentence.map((each) => hangText("sentence", each)).join(between)}</p>
      {report.dumps > 0 && (
        <p className="muted">{text.dumps(count(report.dumps), count(report.ranks))}</p>
      )}
      {report.named.length > 0 && (
        <Rows
          caption={text.named}
          heads={text.namedColumns}
          rows={report.named.map((named, at) => ({ ...named, at }))}
          columns={[
            { cell: ({ rank }) => rank, kind: "text" },
            { cell: ({ kind }) => text.kinds[kind], kind: "text" },
            { cell: ({ call }) => call ?? MISSING, kind: "text" },
            { cell: ({ group }) => group ?? MISSING, kind: "text" },
            { cell: ({ line }) => line ?? MISSING, kind: "text" },
            {
              kind: "text",
              className: "hang-evidence",
              cell: ({ rank, at, evidence: said }) => (
                <>
                  {evidence[at] ? hangText("evidence", evidence[at]) : said}
                  <InTrace joined={joined.find((each) => each.rank === rank)} run={run} />
                </>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

interface InTraceProps {
  joined: Answer["joined"][number] | undefined;
  run: string;
}

/** Where the rank's last finished call is in its trace; nothing where no trace has it. */
function InTrace({ joined, run }: InTraceProps) {
  if (!joined) return null;
  const { worker, span, row, call } = joined;
  return (
    <span className="hang-in-trace">
      {text.lastFinished(call)}{" "}
      <Link
        title={text.inTraceHelp}
        onClick={() => {
          selectTrace({ run, worker, span });
          goToView("trace", null, {
            event: { type: "row", worker: null, row },
            window: null,
            search: "",
          });
        }}
      >
        {text.inTrace}
      </Link>
    </span>
  );
}

function Details({ answer }: { answer: Answer }) {
  const { report, left_out } = answer;
  const all = useMemo(() => together(answer), [answer]);
  return (
    <>
      {report.waits.length > 0 && <WaitsPanel all={all} />}
      {all.length > 0 && (
        <Panel title={text.ranks} className="across">
          <Rows
            heads={text.rankColumns}
            rows={all}
            columns={[
              { cell: ({ ranks }) => rangesOf(ranks) },
              { cell: stateOf, kind: "text" },
              { cell: ({ call }) => call ?? MISSING, kind: "text" },
              { cell: ({ group }) => group ?? MISSING, kind: "text" },
              { cell: ({ line }) => line ?? MISSING, kind: "text" },
              { cell: ({ waitsFor }) => rangesOf(waitsFor) || MISSING, kind: "text" },
            ]}
          />
        </Panel>
      )}
      {report.groups.length > 0 && (
        <Panel title={text.groups} help={text.groupsHelp} className="across">
          <Rows
            heads={text.groupColumns}
            rows={report.groups}
            columns={[
              { cell: ({ description }) => description, title: ({ name }) => name },
              { cell: ({ call }) => call, kind: "text" },
              { cell: ({ ranks }) => rangesOf(ranks), kind: "text" },
              { cell: ({ finished }) => rangesOf(finished) || MISSING, kind: "text" },
              { cell: ({ entered }) => rangesOf(entered) || MISSING, kind: "text" },
              { cell: ({ not_entered }) => rangesOf(not_entered) || MISSING, kind: "text" },
              { cell: ({ unknown }) => rangesOf(unknown) || MISSING, kind: "text" },
            ]}
          />
        </Panel>
      )}
      {report.left_out.length > 0 && (
        <Panel title={text.leftOut} className="across">
          <Rows
            heads={text.leftOutColumns}
            rows={report.left_out.map(({ file, reason }, at) => ({
              file,
              reason: reasonText(reason, left_out[at] ?? null),
            }))}
            columns={[{ cell: ({ file }) => file }, { cell: ({ reason }) => reason, kind: "text" }]}
          />
        </Panel>
      )}
    </>
  );
}

function WaitsPanel({ all }: { all: readonly Together[] }) {
  const data = useMemo(() => waitsData(all, MOST_BOXES), [all]);
  const { shown, left } = data;
  const tipOf = (box: number) => {
    const each = shown[box];
    if (!each) return { title: "", lines: [] };
    const { ranks, call, group, line, waitsFor } = each;
    return {
      title: ranksName(ranks),
      subtitle: stateOf(each),
      lines: [
        { label: "", value: call === null ? text.noCall : text.inCall(call, group ?? "") },
        ...(line === null ? [] : [{ label: "", value: line }]),
        { label: "", value: waitsOf(waitsFor) },
      ],
    };
  };
  const named = shown.flatMap(({ ranks, kind }) => (kind === null ? [] : ranks));
  return (
    <Panel title={text.waits} help={text.waitsHelp} className="across">
      <Waits
        title={text.waits}
        summary={text.waitsSummary(count(shown.length), rangesOf(named) || MISSING)}
        data={data}
        tip={tipOf}
        head={text.rankColumns}
        rows={shown.map((each) => ({
          cells: [
            rangesOf(each.ranks),
            stateOf(each),
            each.call ?? MISSING,
            each.group ?? MISSING,
            each.line ?? MISSING,
            rangesOf(each.waitsFor) || MISSING,
          ],
        }))}
      />
      {left > 0 && <p className="muted">{text.more(count(left))}</p>}
    </Panel>
  );
}

function stateOf({ kind, isFinished }: Together): string {
  if (kind !== null) return text.kinds[kind];
  return isFinished ? text.finished : text.unfinished;
}

function waitsOf(ranks: readonly number[]): string {
  return ranks.length > 0 ? text.forRanks(rangesOf(ranks)) : text.forNobody;
}

/** The first rows of a list, and how many more there are. */
function Rows<R>({ rows, ...props }: Parameters<typeof ListTable<R>>[0]) {
  return (
    <>
      <ListTable {...props} wide rows={rows.slice(0, MOST)} />
      {rows.length > MOST && <p className="muted">{text.rest(count(rows.length - MOST))}</p>}
    </>
  );
}
