import type { Steps } from "../../api";
import { count, duration, fraction, percentile } from "../../format";
import { categoryName, stepsTexts as text } from "../../i18n";
import { categoryColor, Link, Panel, Swatch } from "../../ui";
import { cause, DEVIATIONS, LEAST_SHARE, type Usual } from "./outliers";

const SHOWN = 8;

interface Props {
  readonly steps: Steps;
  readonly usual: Usual;
  readonly slow: readonly boolean[];
  readonly onPick: (step: number) => void;
}

/** The slowest outliers, each with what makes it slow. */
export function Outliers({ steps, usual, slow, onPick }: Props) {
  const found = steps.duration_ns
    .flatMap((ns, step) => (slow[step] ? [{ step, ns }] : []))
    .sort((a, b) => b.ns - a.ns);
  const limit = duration(usual.limit_ns);
  const [least = null, most = null] = [0, 1].map((part) => percentile(steps.duration_ns, part));
  return (
    <Panel
      title={text.outliers}
      help={text.outliersHelp(count(DEVIATIONS), fraction(LEAST_SHARE, 0))}
    >
      <p className="muted">
        {usual.limit_ns === null
          ? text.tooFew
          : found.length === 0
            ? text.noOutliers(limit, duration(least), duration(most))
            : text.outliersShort(count(found.length), limit)}
      </p>
      {found.length > 0 && (
        <ul className="outliers num">
          {found.slice(0, SHOWN).map(({ step, ns }) => {
            const because = cause(steps, usual, step);
            const more = ns - usual.duration_ns;
            return (
              <li key={step}>
                <Link onClick={() => onPick(step)}>
                  {text.tiles.ofStep(steps.names[step] ?? String(step))}
                </Link>
                <span>{duration(ns)}</span>
                <span className="muted">
                  {text.longer(duration(more), fraction(more / usual.duration_ns))}
                </span>
                {because && (
                  <span>
                    <Swatch color={categoryColor(because.category)} />
                    {text.because(categoryName(because.category), duration(because.ns))}
                  </span>
                )}
              </li>
            );
          })}
          {found.length > SHOWN && (
            <li className="muted">{text.outliersMore(count(found.length - SHOWN))}</li>
          )}
        </ul>
      )}
    </Panel>
  );
}
