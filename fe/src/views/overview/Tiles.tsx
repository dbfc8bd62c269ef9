import { type Fraction, type Overview, useFlops } from "../../api";
import { partName } from "../../draw/parts";
import { count, duration, fraction, inOneUnit } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { UtilizationTiles } from "../../shell/utilization";
import { goToView, useTrace } from "../../state";
import { Tile } from "../../ui";
import { OPEN, openCategory, openCause } from "./doors";
import { meanSmEfficiency, shareOf, stepStats } from "./numbers";
import { waterfallRows } from "./waterfallRows";

const text = overviewTexts.tiles;
/** Of a host: the largest parts of its steps. */
const PARTS = 5;
const LEAST = 0.01;

/** The numbers of the first screen. */
export function Tiles({ overview }: { overview: Overview }) {
  const { average, meta, definitions, steps } = overview;
  const number = steps.names.length;
  return (
    <dl className="tiles even">
      <Tile
        label={text.step}
        help={definitionText(definitions, "step")}
        value={duration(average.step_ns)}
        remark={number === 1 ? text.oneStep : text.steps(count(number))}
        onOpen={() => goToView("steps", null, { filter: "" })}
      />
      {meta.device_type === "GPU" ? (
        <OfDevices overview={overview} />
      ) : (
        <OfHost overview={overview} />
      )}
    </dl>
  );
}

/** Further numbers, below the fold. */
export function MoreTiles({ overview }: { overview: Overview }) {
  const { average, definitions, device, meta, steps } = overview;
  const { p50, p95, max } = stepStats(overview);
  const time = inOneUnit("ns", [average.step_ns, p50, p95, max]);
  return (
    <dl className="tiles beside">
      <Tile
        label={text.average}
        help={definitionText(definitions, "step")}
        value={time(average.step_ns)}
        facts={[
          [text.p50, time(p50)],
          [text.p95, time(p95)],
          [text.max, time(max)],
        ]}
      />
      {meta.device_type === "GPU" && <Estimates overview={overview} />}
      {steps.categories.includes("communication") && !device.communicating && (
        <Tile
          label={categoryName("communication")}
          help={definitionText(definitions, "communication")}
          value={fraction(shareOf(overview, "communication"))}
          remark={text.ofStep}
          onOpen={() => openCategory("communication")}
        />
      )}
    </dl>
  );
}

interface OfDeviceProps {
  readonly overview: Overview;
  readonly of: keyof typeof OPEN;
  readonly label: string;
  readonly value: Fraction | null;
  readonly remark: string;
  /** In its place where there is no value. */
  readonly missing?: string;
}

function OfDevice({ overview, of, label, value, remark, missing }: OfDeviceProps) {
  return (
    <Tile
      label={label}
      help={definitionText(overview.definitions, of)}
      value={fraction(value)}
      remark={value === null ? (missing ?? text.notRecorded) : remark}
      onOpen={value === null ? undefined : OPEN[of]}
    />
  );
}

function OfDevices({ overview }: { overview: Overview }) {
  const { device, devices } = overview;
  const { tensor_cores: tensor } = device;
  const remark =
    devices.length > 1 ? text.devices(devices.length) : text.device(devices[0]?.id ?? 0);
  const tile = { overview, remark };
  return (
    <>
      <OfDevice {...tile} of="busy" label={text.busy} value={device.busy} />
      <OfDevice {...tile} of="computing" label={text.computing} value={device.computing} />
      {!!device.communicating && (
        <OfDevice
          {...tile}
          of="exposed_communication"
          label={text.exposed}
          value={device.exposed_communication}
        />
      )}
      <OfDevice
        overview={overview}
        of="tensor_cores_yes"
        label={text.tensor}
        value={tensor.yes}
        remark={text.unknownOf(fraction(tensor.unknown))}
        missing={tensor.unknown === null ? text.notRecorded : text.notInNames}
      />
      <OfPeak of="mfu" />
    </>
  );
}

/** What is estimated from launch configurations. */
function Estimates({ overview }: { overview: Overview }) {
  const { device, devices } = overview;
  const { occupancy } = device;
  return (
    <>
      <OfDevice
        overview={overview}
        of="sm_efficiency"
        label={text.sm}
        value={meanSmEfficiency(devices)}
        remark={text.estimated}
      />
      <OfDevice
        overview={overview}
        of="achieved_occupancy"
        label={text.occupancy}
        value={occupancy.mean}
        remark={text.knownOf(fraction(occupancy.known_share))}
        missing={occupancy.known_share === 0 ? text.notKnown : text.notRecorded}
      />
      <OfPeak of="hfu" />
    </>
  );
}

/** By the parts of the waterfall, as the verdict and the picture call them. */
function OfHost({ overview: { waterfall } }: { overview: Overview }) {
  const { rows, total } = waterfallRows(waterfall);
  return rows
    .filter(({ others, ns }) => others === 0 && ns >= LEAST * total)
    .slice(0, PARTS)
    .map(({ cause, ns }) => (
      <Tile
        key={cause}
        label={partName(cause)}
        value={fraction(ns / total)}
        remark={text.ofStep}
        onOpen={() => openCause(cause)}
      />
    ));
}

/** Not waited for: the other numbers are here already. */
function OfPeak({ of }: { of: "mfu" | "hfu" }) {
  const { data } = useFlops(useTrace().sel);
  return data ? (
    <UtilizationTiles flops={data} of={[of]} onOpen={() => goToView("roofline")} />
  ) : null;
}
