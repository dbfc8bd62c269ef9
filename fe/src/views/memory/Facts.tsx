import type { DeviceMemory, MemoryAt } from "../../api";
import type { CurveSpan } from "../../charts";
import { momentIn } from "../../draw";
import { bytes, exact, fraction } from "../../format";
import { memoryTexts } from "../../i18n";
import { peakReserved, spanAt } from "./curve";
import type { Look } from "./useLook";

const text = memoryTexts.facts;

interface Props {
  readonly whole: DeviceMemory;
  /** The peak of the range; null when everything is shown. */
  readonly here: MemoryAt | null;
  readonly spans: readonly CurveSpan[];
  readonly look: Look;
}

/** The numbers one comes for, above the picture. */
export function Facts({ whole, here, spans, look }: Props) {
  const { peak, device_bytes: total, baseline } = whole;
  const reserved = peakReserved(whole);
  const when = (time: number) => {
    const step = spanAt(spans, time);
    const at = text.at(momentIn(time, look.whole));
    return step ? `${at}, ${text.in(step.label)}` : at;
  };
  return (
    <dl className="memory-facts">
      <Fact
        label={text.peak}
        help={text.peakHelp}
        size={peak.allocated}
        remark={when(peak.time_ns)}
      />
      {here && (
        <Fact
          label={text.here}
          help={text.hereHelp}
          size={here.allocated}
          remark={when(here.time_ns)}
        />
      )}
      {reserved > 0 && (
        <Fact
          label={text.reserved}
          help={text.reservedHelp}
          size={reserved}
          remark={text.slack(bytes(Math.max(0, reserved - peak.allocated)))}
        />
      )}
      {total !== null && (
        <Fact
          label={text.total}
          help={text.totalHelp}
          size={total}
          remark={text.ofTotal(fraction(Math.max(reserved, peak.allocated) / total))}
        />
      )}
      <Fact
        label={text.baseline}
        help={text.baselineHelp}
        size={baseline}
        remark={peak.allocated > 0 ? text.ofPeak(fraction(baseline / peak.allocated)) : ""}
      />
    </dl>
  );
}

interface FactProps {
  readonly label: string;
  readonly help: string;
  readonly size: number;
  readonly remark: string;
}

function Fact({ label, help, size, remark }: FactProps) {
  return (
    <div title={help}>
      <dt>{label}</dt>
      <dd className="memory-fact num" title={exact(size, "bytes")}>
        {bytes(size)}
      </dd>
      <dd className="memory-remark num">{remark}</dd>
    </div>
  );
}
