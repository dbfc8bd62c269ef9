import { MISSING, numberLocale } from "./number";

/** A moment, in UTC so that everybody who gets the link reads the same. */
export function moment(iso: string | null): string {
  const date = new Date(iso ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return MISSING;
  return new Intl.DateTimeFormat(numberLocale(), {
    dateStyle: "medium",
    timeStyle: "long",
    timeZone: "UTC",
  }).format(date);
}
