/** How long what is drawn took, and which step took longest. */

import { duration, frameLabel } from "../../format";
import { traceTexts as text } from "../../i18n";
import type { RankTiles } from "../../timeline";
import { Link } from "../../ui";
import { useModel } from "./useTraceModel";

export function Sentence({ source: { meta, work, offset } }: { readonly source: RankTiles }) {
  const { stage } = useModel();
  const { names, start_ns, duration_ns } = meta.steps;
  const ran = duration(work.end - work.start);
  if (names.length < 2) return <p className="sentence trace-sentence">{text.ran(ran)}</p>;
  const at = longestOf(duration_ns);
  const start = (start_ns[at] ?? 0) + offset;
  const time = duration_ns[at] ?? 0;
  return (
    <p className="sentence trace-sentence">
      {text.stepsIn(names.length, ran)}
      <Link onClick={() => stage.current?.look({ start, end: start + time })}>
        {text.stepName(frameLabel(names[at] ?? ""))}
      </Link>
      {text.longestTakes(duration(time))}
    </p>
  );
}

function longestOf(times: readonly number[]): number {
  return times.reduce((most, ns, at) => (ns > (times[most] ?? 0) ? at : most), 0);
}
