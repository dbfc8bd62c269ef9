/** The part of the critical path that a bound is most of: for its colour. */
export const ON_PATH: Readonly<Record<string, string>> = {
  input: "data",
  host: "operator",
  launch: "launch",
  sync: "sync",
  communication: "communication",
  memory: "copy",
  compute: "compute",
  unknown: "unknown",
};
