import { type TraceKey, useCompare } from "../../api";
import { duration, percentChange } from "../../format";
import { compareTexts } from "../../i18n";
import { Async } from "../../ui";
import { Amount } from "./Amount";
import { EVERYTHING } from "./params";

const text = compareTexts.headline;

interface Props {
  readonly baseline: TraceKey;
  readonly experiment: TraceKey;
  /** See `useCompare`. */
  readonly versions: string;
}

/** Host and device time of the whole traces. */
export function Whole({ baseline, experiment, versions }: Props) {
  const query = useCompare(baseline, experiment, EVERYTHING, versions);
  return (
    <Async query={query}>
      {({ totals }) => (
        <>
          <p className="compare-verdict">
            {text.host(duration(totals.duration_ns), duration(totals.exp_duration_ns))}{" "}
            <Amount
              delta={totals.delta_duration_ns}
              percent={percentChange(totals.duration_ns, totals.exp_duration_ns)}
            />
          </p>
          {(totals.device_ns > 0 || totals.exp_device_ns > 0) && (
            <p>
              {text.device(duration(totals.device_ns), duration(totals.exp_device_ns))}{" "}
              <Amount
                delta={totals.delta_device_ns}
                percent={percentChange(totals.device_ns, totals.exp_device_ns)}
              />
            </p>
          )}
        </>
      )}
    </Async>
  );
}
