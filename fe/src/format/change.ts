import { type Maybe, MISSING, present } from "./number";
import { type Unit, value } from "./value";

/** A difference, always with its sign: `+1.2 ms`, `−57.0 %`. `text` writes what it amounts to. */
export function signed(number: Maybe, text: (amount: number) => string): string {
  if (!present(number)) return MISSING;
  if (number === 0) return text(0);
  const amount = text(Math.abs(number));
  // "<0.1": too small for its decimals, on either side of 0.
  const small = amount.startsWith("<");
  return number > 0
    ? `${small ? "<" : ""}+${small ? amount.slice(1) : amount}`
    : `${small ? ">" : ""}−${small ? amount.slice(1) : amount}`;
}

export function change(number: Maybe, unit: Unit | null): string {
  return signed(number, (amount) => value(amount, unit));
}

/** How much a number has changed, in percent of what it was; null where there was nothing to change. */
export function percentChange(before: Maybe, after: Maybe): number | null {
  if (!present(before) || !present(after) || before === 0) return null;
  return ((after - before) / before) * 100;
}
