import { percent, type Unit, value } from "../format";
import { chartsTexts } from "../i18n";

const SPOKEN = 5;

/** "Device self time: aten::mm 3 ms (60 %), …": the largest parts, for people who do not see the picture. */
export function summary(
  title: string,
  parts: readonly { readonly label: string; readonly value: number }[],
  unit: Unit,
  total: number,
): string {
  const shown = parts
    .slice(0, SPOKEN)
    .map((part) => chartsTexts.part(part.label, value(part.value, unit), share(part.value, total)));
  const rest = parts.length - shown.length;
  return chartsTexts.summary(
    title,
    [...shown, ...(rest > 0 ? [chartsTexts.andMore(rest)] : [])].join(", "),
  );
}

export function share(part: number, total: number): string {
  return percent(total > 0 ? (part / total) * 100 : null);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, item) => total + item, 0);
}
