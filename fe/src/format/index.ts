export { BYTES_PER, bytes, byteUnit, rate } from "./bytes";
export { change, percentChange, signed } from "./change";
export { bareName, withoutParameters } from "./cpp";
export { moment } from "./date";
export {
  DURATION_SYMBOL,
  type DurationUnit,
  duration,
  durationUnit,
  NS_PER,
} from "./duration";
export { equals } from "./filterText";
export { flop } from "./flop";
export { onOneLine, original, parseVisible, visible } from "./hidden";
export {
  builtinLabel,
  frameLabel,
  inSentence,
  kernelLabel,
  parseFrameName,
} from "./names";
export { count, decimal, fraction, MISSING, percent, setNumberLocale } from "./number";
export { parseDuration } from "./parse";
export { rangesOf } from "./ranges";
export { mean, median, medianDeviation, percentile } from "./statistics";
export { unbroken } from "./unbroken";
export {
  columnFormat,
  exact,
  inOneUnit,
  largestOf,
  type Unit,
  value,
} from "./value";
