import { counted } from "../counted";
import { area } from "../translation";

/** Whom device work belongs to, as the server says it. */
export interface OwnerWords {
  readonly how: string;
  readonly name: string | null;
  readonly reason: string | null;
  /** The API call that started the work. */
  readonly launcher: string | null;
  /** The server's own words. */
  readonly english: string;
}

export const owners = area("owners", {
  title: "Device work that no operator launched",
  owner: "Owner",
  more: (n: string, time: string) => `${counted(n, "more owner")}: ${time}`,
  evidence: { graph_node: "captured by", inferred: "like" },
  how: {
    operator: "launch",
    compiled: "compiled region or Triton launch",
    annotated: "annotation of the graph's kernel",
    graph_node: "graph capture",
    annotation: "annotation",
    module: "module",
    frame: "Python frame",
    thread: "thread",
    inferred: "inferred from a recorded step",
    none: "unknown",
  },
  words: ({ english }: OwnerWords): string => english,
});
