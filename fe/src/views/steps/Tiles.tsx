import type { Steps } from "../../api";
import { count, duration, fraction, percentile } from "../../format";
import { stepsTexts } from "../../i18n";
import { change, setAddress, usePicked } from "../../state";
import { anchor, Tile } from "../../ui";
import {
  DEVIATIONS,
  FEWEST_STEPS,
  LEAST_SHARE,
  lostTime,
  nearestStep,
  type Usual,
} from "./outliers";
import { params } from "./params";

const text = stepsTexts.tiles;

interface Props {
  readonly steps: Steps;
  readonly usual: Usual;
  readonly slow: readonly boolean[];
}

/** Where the table of all steps is. */
export const ALL_STEPS = anchor("all-steps", "nearest");

/** All steps in an order. */
function showSteps(sort: string): void {
  setAddress(change(params.sort, sort), change(params.filter, ""));
  ALL_STEPS.show();
}

export function Tiles({ steps, usual, slow }: Props) {
  const [, setSelected] = usePicked();
  const durations = steps.duration_ns;
  const n = durations.length;
  const max = percentile(durations, 1) ?? 0;
  const min = percentile(durations, 0) ?? 0;
  const lost = lostTime(steps, usual, slow);
  const nameOf = (time: number) => steps.names[durations.indexOf(time)] ?? "";
  const above = (time: number | null) =>
    usual.duration_ns > 0 && time !== null && n > 1
      ? text.spread(fraction(time / usual.duration_ns - 1))
      : "";
  const select = (name: string) => setSelected({ kind: "step", name });
  const selectNearest = (time: number | null) => {
    const step = nearestStep(durations, time);
    return step === null ? undefined : () => select(steps.names[step] ?? "");
  };
  const p95 = percentile(durations, 0.95);
  return (
    <dl className="tiles">
      <Tile
        label={text.count}
        help={text.countHelp}
        value={count(n)}
        onOpen={() => showSteps("start_ns")}
      />
      <Tile
        label={text.median}
        help={text.medianHelp}
        value={duration(usual.duration_ns)}
        onOpen={selectNearest(usual.duration_ns)}
      />
      <Tile
        label={text.p95}
        help={text.p95Help}
        value={duration(p95)}
        remark={above(p95)}
        onOpen={selectNearest(p95)}
      />
      <Tile
        label={text.min}
        help={text.minHelp}
        value={duration(min)}
        remark={text.ofStep(nameOf(min))}
        onOpen={() => select(nameOf(min))}
      />
      <Tile
        label={text.max}
        help={text.maxHelp}
        value={duration(max)}
        remark={text.ofStep(nameOf(max))}
        onOpen={() => select(nameOf(max))}
      />
      <Tile
        label={text.outliers}
        help={stepsTexts.outliersHelp(count(DEVIATIONS), fraction(LEAST_SHARE, 0))}
        value={n < FEWEST_STEPS ? "–" : count(lost.steps)}
        remark={
          n < FEWEST_STEPS
            ? text.few
            : lost.steps === 0
              ? text.none
              : text.lost(duration(lost.ns), fraction(lost.share))
        }
        onOpen={lost.steps > 0 ? () => showSteps("-delta_ns") : undefined}
      />
    </dl>
  );
}
