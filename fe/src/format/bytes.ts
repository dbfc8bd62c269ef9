import { type Maybe, MISSING, present, significant } from "./number";

type ByteUnit = "B" | "KiB" | "MiB" | "GiB" | "TiB";

// Powers of 1024, as PyTorch's own messages call them. KB, MB and GB are decimal: they occur in rates alone.
export const BYTES_PER: Record<ByteUnit, number> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

const LARGEST_FIRST: readonly ByteUnit[] = ["TiB", "GiB", "MiB", "KiB"];

/** The largest unit in which `bytes` is at least 1. */
export function byteUnit(bytes: number): ByteUnit {
  return LARGEST_FIRST.find((unit) => Math.abs(bytes) >= BYTES_PER[unit]) ?? "B";
}

/** With the unit that suits this value: `31.74 GiB`. */
export function bytes(value: Maybe): string {
  if (!present(value)) return MISSING;
  const unit = byteUnit(value);
  return `${significant(value / BYTES_PER[unit], 4)} ${unit}`;
}

type RateUnit = "B/s" | "KB/s" | "MB/s" | "GB/s" | "TB/s";

// Decimal, as data sheets of links and nccl-tests count.
const PER_SECOND: readonly (readonly [RateUnit, number])[] = [
  ["TB/s", 1e12],
  ["GB/s", 1e9],
  ["MB/s", 1e6],
  ["KB/s", 1e3],
  ["B/s", 1],
];

/** The largest unit in which bytes per second are at least 1. */
export function rateUnit(perSecond: number): RateUnit {
  return PER_SECOND.find(([, size]) => Math.abs(perSecond) >= size)?.[0] ?? "B/s";
}

/** Bytes per second with the unit that suits them: `312.5 GB/s`. */
export function rate(perSecond: Maybe): string {
  if (!present(perSecond)) return MISSING;
  const unit = rateUnit(perSecond);
  return `${significant(perSecond / sizeOf(unit), 4)} ${unit}`;
}

export function sizeOf(unit: RateUnit): number {
  return PER_SECOND.find(([name]) => name === unit)?.[1] ?? 1;
}
