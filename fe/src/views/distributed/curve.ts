/** The line of a fit t = α + S ÷ β as bandwidth over size. Pure. */
import type { BandwidthFit } from "../../api";
import type { ScatterSeries } from "../../charts";

const STEPS = 48;

/** From the least to the largest measured size; empty without a fit. */
export function curveOf({ points, alpha_ns: alpha, beta }: BandwidthFit): ScatterSeries["curve"] {
  if (alpha === null || beta === null || beta <= 0) return [];
  const sizes = points.map(({ bytes }) => bytes).filter((size) => size > 0);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  if (sizes.length === 0 || high <= low) return [];
  return Array.from({ length: STEPS + 1 }, (_, at) => {
    const x = low * (high / low) ** (at / STEPS);
    return { x, y: x / (alpha / 1e9 + x / beta) };
  });
}
