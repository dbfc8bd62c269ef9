import { count, duration } from "../../format";
import { Each } from "../../ui";

interface Props {
  readonly title: string;
  /** One more than there are counts. */
  readonly edges_ns: readonly number[];
  readonly counts: readonly number[];
}

/** How often which duration, on a logarithmic scale. */
export function Histogram({ title, edges_ns, counts }: Props) {
  const most = Math.max(1, ...counts);
  const first = edges_ns[0];
  const last = edges_ns.at(-1);
  return (
    <figure className="trace-histogram">
      <figcaption className="muted">{title}</figcaption>
      <div role="img" aria-label={`${title}: ${duration(first)} – ${duration(last)}`}>
        <Each of={counts}>
          {(n, at) => (
            <i
              title={`${duration(edges_ns[at])} – ${duration(edges_ns[at + 1])}: ${count(n)}`}
              style={{ height: n === 0 ? 0 : `${Math.max(4, (n / most) * 100)}%` }}
            />
          )}
        </Each>
      </div>
      <div className="trace-histogram-ends num">
        <span>{duration(first)}</span>
        <span>{duration(last)}</span>
      </div>
    </figure>
  );
}
