/** From the rows of the table to points under roofs. Pure. */
import type { RooflineTable } from "../../api";
import type { Roof, RooflineData, RooflinePoint } from "../../charts/Roofline";
import { partColor } from "../../draw/parts";
import { flop, rate } from "../../format";
import { roofline as text } from "../../i18n/en/roofline";
import { allRows, numberAt, textAt } from "../../table";

/** More points hide each other. */
export const MOST_POINTS = 500;

type PointKind = "used" | "unused" | "product" | "moves";
const KINDS: readonly PointKind[] = ["used", "unused", "product", "moves"];
const COLORS: Readonly<Record<PointKind, string>> = {
  used: "var(--better)",
  unused: "var(--worse)",
  product: partColor("compute.gemm"),
  moves: partColor("copy"),
};
/** Of its time, in kernels with fewer blocks than multiprocessors. */
const MOSTLY = 0.5;

export interface Points {
  readonly data: RooflineData;
  /** The row of each point. */
  readonly rows: readonly number[];
  readonly kinds: readonly PointKind[];
  readonly hasRings: boolean;
}

/** The rows that take most time, those that have a place in the picture. */
export function pointsOf(answer: RooflineTable): Points {
  const { rows, meta } = answer;
  const order = allRows(answer)
    .filter((row) => hasPlace(answer, row))
    .sort((a, b) => (numberAt(rows, "time_ns", b) ?? 0) - (numberAt(rows, "time_ns", a) ?? 0))
    .slice(0, MOST_POINTS);
  const kinds = order.map((row) => kindOf(answer, row));
  const points = order.map(
    (row, at): RooflinePoint => ({
      intensity: numberAt(rows, "intensity", row),
      rate: numberAt(rows, "flop_rate", row),
      share: numberAt(rows, "roof_share", row),
      weight: meta.total_ns > 0 ? (numberAt(rows, "time_ns", row) ?? 0) / meta.total_ns : 0,
      color: COLORS[kinds[at] ?? "moves"],
      hollow: (numberAt(rows, "below_wave", row) ?? 0) > MOSTLY,
    }),
  );
  return {
    rows: order,
    kinds,
    hasRings: points.some(({ hollow }) => hollow),
    data: {
      points,
      roofs: roofsOf(answer),
      xLabel: text.xAxis,
      yLabel: text.yAxis,
      stripLabel: text.strip,
      rateLabel: (perSecond) => flop(perSecond, "/s"),
    },
  };
}

function hasPlace({ rows }: RooflineTable, row: number): boolean {
  const under =
    numberAt(rows, "intensity", row) !== null && numberAt(rows, "flop_rate", row) !== null;
  return (
    under || (numberAt(rows, "flops", row) === 0 && numberAt(rows, "roof_share", row) !== null)
  );
}

function kindOf({ rows }: RooflineTable, row: number): PointKind {
  if (!numberAt(rows, "flops", row)) return "moves";
  const cores = textAt(rows, "tensor_cores", row);
  if (cores === "used") return "used";
  return cores === "" || cores === "small" ? "product" : "unused";
}

/** Of the first device: memory, host link, and the element types that something multiplies. */
export function roofsOf({ rows, meta }: RooflineTable): Roof[] {
  const device = meta.devices[0];
  if (!device) return [];
  const { bandwidth, host, flops, reached_bandwidth: moved, reached_flops: computed } = device;
  const elements = [
    ...new Set((rows.element ?? []).filter((e): e is string => typeof e === "string")),
  ];
  const roofs: Roof[] = [];
  if (bandwidth !== null) {
    roofs.push({ kind: "rising", height: bandwidth, label: text.roofs.memory(rate(bandwidth)) });
    if (host !== null && host !== undefined)
      roofs.push({ kind: "link", height: host, label: text.roofs.host(rate(host)) });
  }
  if (moved !== null && moved !== undefined)
    roofs.push({ kind: "rising", height: moved, label: text.roofs.reached, reached: true });
  for (const element of elements) {
    const height = flops[element];
    if (height !== undefined)
      roofs.push({ kind: "flat", height, label: text.roofs.element(element, flop(height, "/s")) });
    const best = computed?.[element];
    if (best !== undefined) {
      const label = text.roofs.elementReached(element, flop(best, "/s"));
      roofs.push({ kind: "flat", height: best, label, reached: true });
    }
  }
  return roofs;
}

/** What the colours mean, those that are there. */
export function legendOf({ kinds, hasRings }: Points) {
  const found = KINDS.filter((kind) => kinds.includes(kind)).map((kind) => ({
    key: kind,
    label: text.legend[kind],
    color: COLORS[kind],
    shown: true,
  }));
  return hasRings
    ? [
        ...found,
        {
          key: "wave",
          label: text.legend.wave,
          color: "var(--text-3)",
          shown: true,
          ring: true,
        },
      ]
    : found;
}
