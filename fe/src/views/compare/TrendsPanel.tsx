/** How step time and busy time change over any number of traces. */
import { AnswerTable } from "../../answers/AnswerTable";
import { type TraceScope, type Trends, useTrends } from "../../api";
import { count, duration } from "../../format";
import { change as changeTexts } from "../../i18n/en/change";
import { PartialNotes } from "../../shell";
import { selectTrace, useTrace } from "../../state";
import { QueryPanel } from "../../ui";
import { params } from "./params";
import { changeText, lineOf, metricName, type Trend, trendsTable } from "./trends";

const text = changeTexts.trends;
const WIDTH = 360;
const HEIGHT = 40;
const ROOM = 6;

export function TrendsPanel({ of }: { of: TraceScope }) {
  const { sel, comparison } = useTrace();
  const query = useTrends(sel, of, comparison.set?.name ?? null);
  return (
    <QueryPanel
      title={text.title}
      help={text.help}
      query={query}
      empty={({ trends, recordings }) =>
        trends.length === 0 || recordings.length < 2
          ? { title: text.tooFew, reason: text.tooFewReason }
          : null
      }
    >
      {(answer) => <Found answer={answer} />}
    </QueryPanel>
  );
}

function Found({ answer }: { answer: Trends }) {
  return (
    <>
      <PartialNotes notes={answer.notes} />
      <p className="totals">{text.baseline(answer.recordings[answer.baseline]?.name ?? "")}</p>
      <div className="compare-trends">
        {answer.trends.map((trend) => (
          <Line key={trend.metric} trend={trend} answer={answer} />
        ))}
      </div>
      <AnswerTable
        id="compare-trends"
        label={text.title}
        answer={answer}
        shape={trendsTable}
        nameKey="trace"
        filter={params.kernelsOrTrendsFilter}
        sort={params.kernelsOrTrendsSort}
        onSelect={(row) => {
          const trace = answer.traces[row];
          if (trace) selectTrace(trace);
        }}
      />
    </>
  );
}

function Line({ trend, answer }: { trend: Trend; answer: Trends }) {
  const { stretches, dots } = lineOf(
    trend.points.map(({ value }) => value),
    WIDTH,
    HEIGHT,
  );
  const changed = trend.change_point;
  const name = (at: number) => answer.recordings[at]?.name ?? "";
  return (
    <figure className="compare-trend">
      <figcaption>{metricName(trend)}</figcaption>
      <svg
        viewBox={`${-ROOM} ${-ROOM} ${WIDTH + 2 * ROOM} ${HEIGHT + 2 * ROOM}`}
        role="img"
        aria-label={text.chart(metricName(trend), count(trend.points.length))}
      >
        {stretches.map((points) => (
          <polyline key={points} points={points} />
        ))}
        {dots.map(({ at, x, y }) => (
          <circle
            key={at}
            cx={x}
            cy={y}
            r={at === changed?.at ? 5 : 3}
            className={at === changed?.at ? "changed" : (trend.points[at]?.verdict ?? "")}
          >
            <title>{`${name(at)}: ${duration(trend.points[at]?.value ?? null)}`}</title>
          </circle>
        ))}
      </svg>
      <p>
        {changed && text.changed(name(changed.at), changeText(changed))}{" "}
        {trend.last &&
          text.last(count(trend.last.after), count(trend.last.before), changeText(trend.last))}
        {!changed && (trend.last ? ` ${text.steady}` : text.short)}
      </p>
    </figure>
  );
}
