import type { Overview } from "../../api";
import { count, duration, fraction } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { Tile } from "../../ui";
import { type DeviceMetric, deviceMean, shareOf, stepStats } from "./numbers";

const text = overviewTexts.tiles;

export function Tiles({ overview }: { overview: Overview }) {
  const steps = stepStats(overview);
  const { devices, meta, steps: table, definitions } = overview;
  const share = (category: "cpu_exec" | "dataloader" | "communication") =>
    fraction(shareOf(overview, category));
  const remark =
    devices.length > 1 ? text.devices(devices.length) : text.device(devices[0]?.id ?? 0);
  return (
    <dl className="tiles">
      <Tile
        label={text.step}
        help={definitionText(definitions, "step")}
        value={duration(steps.mean)}
        {...(steps.count > 1
          ? {
              facts: [
                [text.p50, duration(steps.p50)],
                [text.p95, duration(steps.p95)],
                [text.max, duration(steps.max)],
              ] as const,
            }
          : {})}
        remark={steps.count === 1 ? text.oneStep : text.steps(count(steps.count))}
      />
      {meta.device_type === "GPU" ? (
        <>
          <DeviceTile label={text.busy} metric="utilization" remark={remark} {...overview} />
          <DeviceTile
            label={text.sm}
            metric="sm_efficiency"
            remark={text.estimated}
            {...overview}
          />
          <DeviceTile
            label={text.occupancy}
            metric="achieved_occupancy"
            remark={text.estimated}
            {...overview}
          />
          <DeviceTile
            label={text.tensor}
            metric="tensor_core_share"
            remark={text.ofKernels}
            {...overview}
          />
        </>
      ) : (
        <>
          <Tile
            label={text.cpuShare}
            help={definitionText(definitions, "cpu_exec")}
            value={share("cpu_exec")}
            remark={text.ofStep}
          />
          <Tile
            label={text.dataShare}
            help={definitionText(definitions, "dataloader")}
            value={share("dataloader")}
            remark={text.ofStep}
          />
        </>
      )}
      {table.categories.includes("communication") && (
        <Tile
          label={categoryName("communication")}
          help={definitionText(definitions, "communication")}
          value={share("communication")}
          remark={text.ofStep}
        />
      )}
    </dl>
  );
}

interface DeviceTileProps extends Pick<Overview, "devices" | "definitions"> {
  readonly label: string;
  readonly metric: DeviceMetric;
  /** What the number is; where there is none, that is said instead. */
  readonly remark: string;
}

function DeviceTile({ label, metric, remark, devices, definitions }: DeviceTileProps) {
  const mean = deviceMean(devices, metric);
  return (
    <Tile
      label={label}
      help={definitionText(definitions, metric)}
      value={fraction(mean)}
      remark={mean === null ? text.notRecorded : remark}
    />
  );
}
