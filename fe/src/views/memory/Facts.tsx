import type { DeviceMemory, MemoryAt } from "../../api";
import type { CurveSpan } from "../../charts";
import { momentIn } from "../../draw";
import { bytes, exact, fraction } from "../../format";
import { memoryTexts } from "../../i18n";
import { Link } from "../../ui";
import { peakReserved, spanAt } from "./curve";
import { type Look, openMoment } from "./useLook";

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
    <>
      <p className="memory-answer">
        {memoryTexts.sentence(bytes(peak.allocated), when(peak.time_ns))}{" "}
        {total !== null &&
          reserved > 0 &&
          memoryTexts.ofDevice(bytes(reserved), bytes(total), fraction(reserved / total))}
      </p>
      <dl className="memory-facts">
        <Fact
          label={text.peak}
          help={text.peakHelp}
          size={peak.allocated}
          remark={when(peak.time_ns)}
          onOpen={() => openMoment(null, true)}
        />
        {here && (
          <Fact
            label={text.here}
            help={text.hereHelp}
            size={here.allocated}
            remark={when(here.time_ns)}
            onOpen={() => openMoment(null, false)}
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
          onOpen={baseline > 0 ? () => openMoment(look.whole.start, true) : undefined}
        />
      </dl>
    </>
  );
}

interface FactProps {
  readonly label: string;
  readonly help: string;
  readonly size: number;
  readonly remark: string;
  /** Leads to the blocks that are the number. */
  readonly onOpen?: (() => void) | undefined;
}

function Fact({ label, help, size, remark, onOpen }: FactProps) {
  return (
    <div title={help}>
      <dt>{label}</dt>
      <dd className="memory-fact num" title={exact(size, "bytes")}>
        {onOpen ? (
          <Link aria-label={`${label}: ${bytes(size)}`} onClick={onOpen}>
            {bytes(size)}
          </Link>
        ) : (
          bytes(size)
        )}
      </dd>
      <dd className="memory-remark num">{remark}</dd>
    </div>
  );
}
