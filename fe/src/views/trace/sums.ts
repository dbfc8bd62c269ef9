/** What ran in a range on several ranks, as one table. Pure. */
import type { RangeSums } from "../../api";

interface RankSums {
  readonly worker: string;
  readonly sums: RangeSums;
}

interface NameSums {
  readonly name: string;
  readonly category: string;
  readonly count: number;
  readonly total_ns: number;
  /** The rank on which it took longest. */
  readonly worker: string;
  /** Its longest slice there. */
  readonly longest_row: number;
}

type Shared = "slices" | "instants" | "rest" | "by_category" | "columns" | "device_columns";

export interface AllSums extends Pick<RangeSums, Shared> {
  readonly by_name: readonly NameSums[];
  readonly devices: readonly (RangeSums["devices"][number] & { readonly worker: string })[];
}

export function mergeSums(ranks: readonly RankSums[]): AllSums {
  const names = new Map<string, NameSums & { readonly most: number }>();
  const categories = new Map<string, RangeSums["by_category"][number]>();
  const order = orderOf(ranks.map(({ sums }) => sums.by_category.map(({ category }) => category)));
  const placeOf = ({ category }: { category: string }) => order.indexOf(category);
  for (const { worker, sums } of ranks) {
    for (const { name, category, count, total_ns, longest_row } of sums.by_name) {
      const key = `${category}\n${name}`;
      const known = names.get(key);
      const most = Math.max(known?.most ?? 0, total_ns);
      const place = known && known.most >= total_ns ? known : { worker, longest_row };
      names.set(key, {
        name,
        category,
        count: (known?.count ?? 0) + count,
        total_ns: (known?.total_ns ?? 0) + total_ns,
        worker: place.worker,
        longest_row: place.longest_row,
        most,
      });
    }
    for (const { category, count, total_ns } of sums.by_category) {
      const known = categories.get(category);
      categories.set(category, {
        category,
        count: (known?.count ?? 0) + count,
        total_ns: (known?.total_ns ?? 0) + total_ns,
      });
    }
  }
  const sum = (of: (sums: RangeSums) => number) =>
    ranks.reduce((total, { sums }) => total + of(sums), 0);
  return {
    slices: sum(({ slices }) => slices),
    instants: sum(({ instants }) => instants),
    rest: { count: sum(({ rest }) => rest.count), total_ns: sum(({ rest }) => rest.total_ns) },
    by_name: [...names.values()].sort((a, b) => placeOf(a) - placeOf(b) || b.total_ns - a.total_ns),
    by_category: [...categories.values()].sort((a, b) => placeOf(a) - placeOf(b)),
    devices: ranks.flatMap(({ worker, sums }) =>
      sums.devices.map((device) => ({ ...device, worker })),
    ),
    columns: ranks[0]?.sums.columns ?? [],
    device_columns: ranks[0]?.sums.device_columns ?? [],
  };
}

/** One order of all, given those of each: the server's, in which what one looks for comes first. */
function orderOf(lists: readonly (readonly string[])[]): string[] {
  const found: string[] = [];
  for (const list of lists)
    for (const [at, each] of list.entries())
      if (!found.includes(each)) {
        const before = list[at - 1];
        found.splice(before === undefined ? 0 : found.indexOf(before) + 1, 0, each);
      }
  return found;
}
