/** The answer in a sentence, and the waterfall of the change. */
import type { Change, Result } from "../../api";
import { partColor, partName } from "../../draw/parts";
import {
  count,
  duration,
  exact,
  inOneUnit,
  inSentence,
  percent,
  percentChange,
  change as signed,
  signed as withSign,
} from "../../format";
import { compareTexts, textFor } from "../../i18n";
import { change as changeTexts } from "../../i18n/en/change";
import { goToView, useAddress } from "../../state";
import { Bar, ListTable } from "../../table";
import { Empty, Link, QueryPanel, Swatch } from "../../ui";
import { PartButton } from "../../ui/PartButton";
import { changeBars, differenceText, intervalText, kindOf, whyRefused } from "./change";
import { params } from "./params";

const text = changeTexts;

interface Props {
  readonly query: Result<Change>;
  /** The programs have nothing in common. */
  readonly unlike: boolean;
  /** What is said in place of the step, where a side has none. */
  readonly whole: React.ReactNode;
}

export function ChangePanel({ query, unlike, whole }: Props) {
  return (
    <QueryPanel title={compareTexts.headline.title} help={text.help} query={query}>
      {(answer) =>
        whyRefused(answer, unlike).length > 0 ? (
          <Refused reasons={whyRefused(answer, unlike)} />
        ) : answer.delta_ns === null ? (
          <div className="compare-headline">
            {whole}
            <p className="muted">{compareTexts.headline.noSteps}</p>
            <Differences answer={answer} />
          </div>
        ) : (
          <div className="compare-change">
            <Sentence answer={answer} delta={answer.delta_ns} />
            <Bars answer={answer} total={answer.delta_ns} />
            <Kinds answer={answer} />
          </div>
        )
      }
    </QueryPanel>
  );
}

/** No number where it would say nothing. */
function Refused({ reasons }: { reasons: readonly string[] }) {
  return (
    <div className="compare-headline">
      <p>
        <strong>{text.refused}</strong>
      </p>
      <ul className="compare-remarks">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <p className="muted">{text.refusedHelp}</p>
    </div>
  );
}

function Sentence({ answer, delta }: { answer: Change; delta: number }) {
  const { baseline, experiment, step, busy, headline } = answer;
  const before = baseline.step_ns ?? 0;
  const after = experiment.step_ns ?? 0;
  const relative = percentChange(before, after);
  const isSure = step !== null && (step.verdict === "regressed" || step.verdict === "improved");
  const tone = isSure ? (delta > 0 ? "worse" : "better") : "unsure";
  const interval =
    step?.low == null || step.high == null ? null : intervalText(step.low, step.high);
  return (
    <div className="compare-headline">
      <p className="compare-verdict">
        <span className={`compare-amount ${tone}`}>
          {delta === 0
            ? text.same
            : (delta > 0 ? text.slower : text.faster)(
                duration(Math.abs(delta)),
                [relative === null ? null : signed(relative, "percent"), interval]
                  .filter((part) => part !== null)
                  .join(", "),
              )}
        </span>{" "}
        <span>{text.step(duration(before), duration(after))}</span>
      </p>
      {headline && <p>{because(headline)}</p>}
      <ul className="compare-remarks">
        {step && <li>{sureness(step)}</li>}
        {busy && (
          <li>
            {text.busy(duration(busy.before_ns), duration(busy.exp_ns))}{" "}
            {text.figureVerdicts[busy.verdict]}
          </li>
        )}
        <li>
          {text.counted(
            count(baseline.steps),
            count(experiment.steps),
            count(baseline.left_out + experiment.left_out),
          )}
        </li>
      </ul>
      <Differences answer={answer} />
    </div>
  );
}

function Differences({ answer: { differences } }: { answer: Change }) {
  if (differences.length === 0) return null;
  return (
    <ul className="compare-remarks">
      {differences.map((each) => (
        <li key={each.what}>{differenceText(each)}</li>
      ))}
    </ul>
  );
}

/** The largest contributor, in words. */
function because(headline: NonNullable<Change["headline"]>): string {
  const {
    cause,
    cause_ns: ns,
    kind,
    delta_ns: delta,
    operator,
    label,
    exp_label: other,
  } = headline;
  const first = text.most(partName(cause), signed(ns, "ns"));
  if (kind === null || delta === null) return first;
  const amount = signed(delta, "ns");
  const owner = operator !== null && headline.is_kernel ? inSentence(operator) : null;
  const name = inSentence(other ?? label ?? "");
  const said =
    kind === "replaced"
      ? text.replaced(owner ?? name, inSentence(other ?? ""), inSentence(label ?? ""), amount)
      : text.because[kind]?.(owner === null ? name : text.of(name, owner), amount, delta > 0);
  return said ? `${first} ${said}` : first;
}

function sureness(step: NonNullable<Change["step"]>): string {
  const said = text.figureVerdicts[step.verdict] ?? step.verdict;
  return step.detectable === null || step.verdict === "regressed" || step.verdict === "improved"
    ? `${text.theStep} ${said}`
    : `${text.theStep} ${said} ${text.detectable(percent(100 * step.detectable))}`;
}

type ChangeRow = ReturnType<typeof changeBars>["rows"][number];

/** A change within the noise is grey, and says so. */
const noise = {
  className: ({ isNoise }: ChangeRow) => (isNoise ? "noise" : ""),
  title: ({ isNoise }: ChangeRow) => (isNoise ? text.noise : undefined),
};

function barColor(isNoise: boolean | null, delta: number): string {
  return isNoise ? "var(--series-rest)" : delta > 0 ? "var(--worse)" : "var(--better)";
}

function Bars({ answer, total }: { answer: Change; total: number }) {
  const [picked, pick] = useAddress(params.cause);
  const { rows, low, high } = changeBars(answer.causes);
  if (rows.length === 0) return <Empty reason={text.nothing} />;
  const at = (ns: number) => (ns - low) / (high - low);
  const change = inOneUnit("ns", [...rows.map(({ delta }) => delta), total]);
  const time = inOneUnit("ns", [answer.baseline.step_ns, answer.experiment.step_ns]);
  return (
    <ListTable
      label={text.waterfall}
      wide
      className="compare-bars"
      rows={rows}
      isPicked={({ cause }) => cause === picked}
      columns={[
        {
          label: text.cause,
          cell: ({ cause, causes }) =>
            cause === null ? (
              text.others(causes)
            ) : (
              <>
                <Swatch color={partColor(cause)} />
                <PartButton part={cause} picked={picked} pick={pick} />
              </>
            ),
          ...noise,
          foot: text.total,
        },
        {
          kind: "bar",
          cell: ({ cause, delta, start, isNoise }) => (
            <>
              <i className="zero" style={{ insetInlineStart: `${100 * at(0)}%` }} />
              <Bar
                from={at(Math.min(start, start + delta))}
                to={at(Math.max(start, start + delta))}
                color={barColor(isNoise || cause === null, delta)}
              />
            </>
          ),
        },
        {
          label: "Δ",
          cell: ({ delta, isNoise }) => (
            <>
              {withSign(delta, change)}
              {isNoise && <span className="visually-hidden"> ({text.noise})</span>}
            </>
          ),
          ...noise,
          title: ({ delta }) => exact(delta, "ns"),
          foot: <span title={exact(total, "ns")}>{withSign(total, change)}</span>,
        },
        {
          label: compareTexts.baseline,
          cell: ({ before }) => time(before),
          ...noise,
          foot: time(answer.baseline.step_ns),
        },
        {
          label: compareTexts.experiment,
          cell: ({ after }) => time(after),
          ...noise,
          foot: time(answer.experiment.step_ns),
        },
      ]}
    />
  );
}

/** What happened to the work, and what has no work to be named. */
function Kinds({ answer: { kinds, unnamed_ns: unnamed } }: { answer: Change }) {
  const [cause] = useAddress(params.cause);
  const said = Object.entries(kinds)
    .filter(([, ns]) => ns !== 0)
    .map(([kind, ns]) => `${textFor(text.kinds, kindOf(kind, ns)) ?? kind} ${signed(ns, "ns")}`);
  return (
    <p className="compare-kinds">
      {[...said, `${text.unnamed} ${signed(unnamed, "ns")}`].join(" · ")}
      {cause !== "" && (
        <>
          {" "}
          <Link onClick={() => goToView("overview", null, { cause })}>
            {text.pieces(partName(cause))}
          </Link>
        </>
      )}
    </p>
  );
}
