/** Round values for axes. Bytes are round in powers of 1024, which no decimal axis knows. Pure. */
import {
  BYTES_PER,
  byteUnit,
  DURATION_SYMBOL,
  type DurationUnit,
  decimal,
  durationUnit,
  NS_PER,
} from "../format";
import type { TimeWindow } from "./timeWindow";

export interface Axis {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly number[];
  readonly label: (tick: number) => string;
}

/** The smallest of 1, 2, 5, 10, 20, … that is at least `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  // What floating point adds to 0.2 / 0.1 must not lead to the next step.
  const digit = [1, 2, 5].find((candidate) => candidate * power >= least * (1 - 1e-9)) ?? 10;
  return digit * power;
}

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
}

function decimalsOf(step: number): number {
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}

/** An axis that begins and ends at a tick and holds both values. */
export function bytesAxis(low: number, high: number, count = 5): Axis {
  const top = high > low ? high : low + Math.max(1, Math.abs(low) * 0.01);
  const unit = byteUnit(Math.max(Math.abs(low), Math.abs(top)));
  const perUnit = BYTES_PER[unit];
  const least = (top - low) / perUnit / count;
  const inUnit = unit === "B" ? Math.max(1, roundStep(least)) : roundStep(least);
  const step = inUnit * perUnit;
  const min = Math.floor(low / step + 1e-9) * step;
  const max = Math.ceil(top / step - 1e-9) * step;
  return {
    min,
    max,
    ticks: multiples(min, max, step),
    label: (tick) => (tick === 0 ? "0" : `${decimal(tick / perUnit, decimalsOf(inUnit))} ${unit}`),
  };
}

/** Ticks inside a stretch of time, in one unit with as many decimals as tell them apart. */
export function timeAxis({ start, end }: TimeWindow, count: number): Axis {
  const step = Math.max(1, roundStep((end - start) / Math.max(1, count)));
  const unit = axisUnit(step, end);
  const decimals = decimalsOf(step / NS_PER[unit]);
  return {
    min: start,
    max: end,
    ticks: multiples(start, end, step),
    label: (tick) => `${decimal(tick / NS_PER[unit], decimals)} ${DURATION_SYMBOL[unit]}`,
  };
}

/**
 * The unit of the step, but one in which the times themselves are not too long to read, and ms from the first
 * millisecond on: a narrow window is read beside tables that are in ms.
 */
function axisUnit(step: number, end: number): DurationUnit {
  return durationUnit(Math.max(step, end / 1e4, Math.min(end, NS_PER.ms)));
}

/** The unit that the moments of a window are written in. */
export function windowUnit({ start, end }: TimeWindow): DurationUnit {
  return axisUnit(roundStep(Math.max(1, (end - start) / 10)), end);
}

/** A moment with as many digits as tell that many moments of a window apart: more, the narrower it is. */
export function momentIn(time: number, window: TimeWindow, moments = 1e3): string {
  const width = window.end - window.start;
  const unit = windowUnit(window);
  return `${decimal(time / NS_PER[unit], digitsFor(width / moments, unit))} ${DURATION_SYMBOL[unit]}`;
}

/** The same without its unit, as it is written into a field: without separators, whatever the language. */
export function fieldMoment(time: number, window: TimeWindow): string {
  const unit = windowUnit(window);
  return (time / NS_PER[unit]).toFixed(digitsFor((window.end - window.start) / 1e4, unit));
}

function digitsFor(smallest: number, unit: DurationUnit): number {
  return decimalsOf(Math.max(1, smallest) / NS_PER[unit]);
}
