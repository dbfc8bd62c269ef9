import { type Fraction, type Overview, useFlops } from "../../api";
import { count, duration, fraction } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { UtilizationTiles } from "../../shell/utilization";
import { useTrace } from "../../state";
import { Tile } from "../../ui";
import { meanSmEfficiency, shareOf, stepStats } from "./numbers";

const text = overviewTexts.tiles;

export function Tiles({ overview }: { overview: Overview }) {
  const steps = stepStats(overview);
  const { device, devices, meta, steps: table, definitions } = overview;
  const help = (key: string) => definitionText(definitions, key);
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
          <DeviceTile label={text.busy} help={help("busy")} value={device.busy} remark={remark} />
          <DeviceTile
            label={text.computing}
            help={help("computing")}
            value={device.computing}
            remark={remark}
          />
          {!!device.communicating && (
            <DeviceTile
              label={text.exposed}
              help={help("exposed_communication")}
              value={device.exposed_communication}
              remark={remark}
            />
          )}
          <DeviceTile
            label={text.sm}
            help={help("sm_efficiency")}
            value={meanSmEfficiency(devices)}
            remark={text.estimated}
          />
          <DeviceTile
            label={text.occupancy}
            help={help("achieved_occupancy")}
            value={device.occupancy.mean}
            remark={text.knownOf(fraction(device.occupancy.known_share))}
            missing={device.occupancy.known_share === 0 ? text.notKnown : text.notRecorded}
          />
          <DeviceTile
            label={text.tensor}
            help={help("tensor_cores_yes")}
            value={device.tensor_cores.yes}
            remark={text.unknownOf(fraction(device.tensor_cores.unknown))}
          />
          <OfPeak />
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
      {table.categories.includes("communication") && !device.communicating && (
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

interface DeviceTileProps {
  readonly label: string;
  readonly help: string;
  readonly value: Fraction | null;
  /** What the number is; where there is none, that is said instead. */
  readonly remark: string;
  readonly missing?: string;
}

/** Not waited for: the other numbers are here already. */
function OfPeak() {
  const { data } = useFlops(useTrace().sel);
  return data ? <UtilizationTiles flops={data} /> : null;
}

function DeviceTile({ value, remark, missing = text.notRecorded, ...tile }: DeviceTileProps) {
  return <Tile {...tile} value={fraction(value)} remark={value === null ? missing : remark} />;
}
