import type { DeviceMemory, MemoryAt } from "../../api";
import type { CurveSpan } from "../../charts";
import { momentIn } from "../../draw";
import { bytes, exact, fraction } from "../../format";
import { memoryTexts } from "../../i18n";
import { Tile } from "../../ui";
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
      <p className="lead">
        {memoryTexts.sentence(bytes(peak.allocated), when(peak.time_ns))}{" "}
        {total !== null &&
          reserved > 0 &&
          memoryTexts.ofDevice(bytes(reserved), bytes(total), fraction(reserved / total))}
      </p>
      <dl className="tiles">
        <Tile
          label={text.peak}
          help={text.peakHelp}
          value={bytes(peak.allocated)}
          title={exact(peak.allocated, "bytes")}
          remark={when(peak.time_ns)}
          onOpen={() => openMoment(null, true)}
        />
        {here && (
          <Tile
            label={text.here}
            help={text.hereHelp}
            value={bytes(here.allocated)}
            title={exact(here.allocated, "bytes")}
            remark={when(here.time_ns)}
            onOpen={() => openMoment(null, false)}
          />
        )}
        {reserved > 0 && (
          <Tile
            label={text.reserved}
            help={text.reservedHelp}
            value={bytes(reserved)}
            title={exact(reserved, "bytes")}
            remark={text.slack(bytes(Math.max(0, reserved - peak.allocated)))}
          />
        )}
        {total !== null && (
          <Tile
            label={text.total}
            help={text.totalHelp}
            value={bytes(total)}
            title={exact(total, "bytes")}
            remark={text.ofTotal(fraction(Math.max(reserved, peak.allocated) / total))}
          />
        )}
        <Tile
          label={text.baseline}
          help={text.baselineHelp}
          value={bytes(baseline)}
          title={exact(baseline, "bytes")}
          remark={peak.allocated > 0 ? text.ofPeak(fraction(baseline / peak.allocated)) : ""}
          onOpen={baseline > 0 ? () => openMoment(look.whole.start, true) : undefined}
        />
      </dl>
    </>
  );
}
