/** The answer first, on one screen: what the step time goes into, what to do about it; below a fold all numbers. */
import { useMemo } from "react";
import { type Overview as OverviewAnswer, useOverview } from "../../api";
import { overviewTexts } from "../../i18n";
import { StepChoice } from "../../shell";
import { JobVerdict, useJob } from "../../shell/findings";
import { useAddress, useBaseline, useTrace } from "../../state";
import { Async, Link, later } from "../../ui";
import { Answer } from "./Answer";
import { linesOf } from "./lines";
import { ALL, params } from "./params";
import { StepPicture } from "./StepPicture";
import { Tiles } from "./Tiles";
import { TopFindings } from "./TopFindings";
import { useFold } from "./useFold";
import "../../ui/lines.css";
import "./overview.css";

const AllNumbers = later(() => import("./AllNumbers"));
const Waterfall = later(async () => ({ default: (await import("./Waterfall")).Waterfall }));
const text = overviewTexts;

export default function Overview() {
  const { sel } = useTrace();
  const query = useOverview(sel);
  const choice = <StepChoice steps={query.data?.steps} stale={query.isPlaceholderData} />;
  return (
    <>
      {query.error !== null && query.data === undefined && choice}
      <Async query={query}>{(overview) => <Content overview={overview} choice={choice} />}</Async>
    </>
  );
}

function Content({ overview, choice }: { overview: OverviewAnswer; choice: React.ReactNode }) {
  const { sel } = useTrace();
  const baseline = useBaseline();
  const job = useJob(overview);
  const [hidden] = useAddress(params.mute);
  const { opened, isOpen, toggle, unfold } = useFold();
  const { lines, more } = useMemo(() => linesOf(overview, job, hidden), [overview, job, hidden]);
  return (
    <div className="overview stack">
      {job && <JobVerdict job={job} />}
      <Answer overview={overview} />
      {overview.steps.kinds.length > 0 && (
        <p role="note">
          {text.kinds.short(overview.steps.kinds.length)}{" "}
          <Link onClick={() => unfold(ALL, ".area-kinds")}>{text.kinds.title}</Link>
        </p>
      )}
      <StepPicture
        sel={sel}
        isOnly={overview.steps.names.length === 1}
        lines={lines}
        onPin={({ key, number }) => unfold(key, `.top-findings li:nth-child(${number}).unfolded`)}
        actions={choice}
      />
      {/* Where traces are compared, the parts of both are in sight. */}
      {baseline && <Waterfall overview={overview} />}
      <TopFindings
        lines={lines}
        more={more}
        opened={opened}
        onFold={toggle}
        onAll={() => unfold(ALL, ".area-findings")}
      />
      <Tiles overview={overview} />
      <section className="overview-all" aria-label={text.all}>
        <Link className="overview-fold" aria-expanded={isOpen} onClick={() => toggle(ALL)}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {text.all}
        </Link>
        {isOpen && <AllNumbers overview={overview} job={job} />}
      </section>
    </div>
  );
}
