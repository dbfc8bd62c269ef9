/** Version numbers as people write them. Pure. */
import type { Cell } from "../../api";

/**
 * CUDA writes 12040 for 12.4, CUPTI since CUDA 13 130000 for 13.0 (and a plain count before), HIP 60443483 for
 * 6.4.43483. Everything else stays as it is.
 */
export function versionText(name: string, value: Cell): string {
  if (value === null) return "–";
  if (typeof value !== "number" || !Number.isInteger(value)) return String(value);
  if (name.startsWith("cuda_") && value >= 1_000) {
    return `${Math.floor(value / 1_000)}.${Math.floor((value % 1_000) / 10)}`;
  }
  if (name === "cupti_version" && value >= 100_000) {
    return `${Math.floor(value / 10_000)}.${Math.floor((value % 10_000) / 100)}`;
  }
  if (name.startsWith("hip_") && value >= 10_000_000) {
    const minor = Math.floor((value % 10_000_000) / 100_000);
    return `${Math.floor(value / 10_000_000)}.${minor}.${value % 100_000}`;
  }
  return String(value);
}
