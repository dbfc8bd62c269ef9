import type { Overview } from "../../api";
import { count, duration, fraction } from "../../format";
import { serverText, t } from "../../i18n";
import { Tile } from "../../ui";
import { deviceMean, shareOf, stepStats } from "./numbers";

const text = t.overview.tiles;

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
        help={serverText(definitions.step)}
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
            help={serverText(definitions.utilization)}
            value={fraction(deviceMean(devices, "utilization"))}
            remark={remark}
          />
          <Tile
            label={text.sm}
            help={serverText(definitions.sm_efficiency)}
            value={fraction(deviceMean(devices, "sm_efficiency"))}
            remark={text.estimated}
          />
          <Tile
            label={text.occupancy}
            help={serverText(definitions.achieved_occupancy)}
            value={fraction(deviceMean(devices, "achieved_occupancy"))}
            remark={text.estimated}
          />
          <Tile
            label={text.tensor}
            help={serverText(definitions.tensor_core_share)}
            value={fraction(deviceMean(devices, "tensor_core_share"))}
            remark={text.ofKernels}
          />
        </>
      ) : (
        <>
          <Tile
            label={text.cpuShare}
            help={serverText(definitions.cpu_exec)}
            value={share("cpu_exec")}
            remark={text.ofStep}
          />
          <Tile
            label={text.dataShare}
            help={serverText(definitions.dataloader)}
            value={share("dataloader")}
            remark={text.ofStep}
          />
        </>
      )}
      {table.categories.includes("communication") && (
        <Tile
          label={t.overview.categories.communication}
          help={serverText(definitions.communication)}
          value={share("communication")}
          remark={text.ofStep}
        />
      )}
    </dl>
  );
}
