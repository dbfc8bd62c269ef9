import type { Overview } from "../../api";
import { count, duration, fraction } from "../../format";
import { t } from "../../i18n";
import { Tile } from "../../ui";
import { deviceMean, shareOf, stepStats } from "./numbers";

const text = t.overview.tiles;

export function Tiles({ overview }: { overview: Overview }) {
  const steps = stepStats(overview);
  const { devices, meta, steps: table } = overview;
  const share = (category: "cpu_exec" | "dataloader" | "communication") =>
    fraction(shareOf(overview, category));
  const remark =
    devices.length > 1 ? text.devices(devices.length) : text.device(devices[0]?.id ?? 0);
  return (
    <dl className="tiles">
      <Tile
        label={text.step}
        help={text.stepHelp}
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
          <Tile
            label={text.busy}
            help={text.busyHelp}
            value={fraction(deviceMean(devices, "utilization"))}
            remark={remark}
          />
          <Tile
            label={text.sm}
            help={text.smHelp}
            value={fraction(deviceMean(devices, "sm_efficiency"))}
            remark={text.estimated}
          />
          <Tile
            label={text.occupancy}
            help={text.occupancyHelp}
            value={fraction(deviceMean(devices, "achieved_occupancy"))}
            remark={text.estimated}
          />
          <Tile
            label={text.tensor}
            help={text.tensorHelp}
            value={fraction(deviceMean(devices, "tensor_core_share"))}
            remark={text.ofKernels}
          />
        </>
      ) : (
        <>
          <Tile label={text.cpuShare} value={share("cpu_exec")} remark={text.ofStep} />
          <Tile label={text.dataShare} value={share("dataloader")} remark={text.ofStep} />
        </>
      )}
      {table.categories.includes("communication") && (
        <Tile
          label={t.overview.categories.communication}
          help={t.overview.categoryHelp.communication}
          value={share("communication")}
          remark={text.ofStep}
        />
      )}
    </dl>
  );
}
