/** The answer first: what the step time goes into, what to do about it, where to look next. */
import { type Overview as OverviewAnswer, useOverview } from "../../api";
import { StepChoice } from "../../shell";
import { CategoryPanel } from "../../shell/doors";
import { JobVerdict } from "../../shell/findings";
import { useAddress, useTrace } from "../../state";
import { Async, Flow } from "../../ui";
import { Answer } from "./Answer";
import { AverageStep } from "./AverageStep";
import { Breakdown } from "./Breakdown";
import { Configuration } from "./Configuration";
import { Devices } from "./Devices";
import { Findings } from "./Findings";
import { Kinds } from "./Kinds";
import { params } from "./params";
import { Tiles } from "./Tiles";
import { TopKernels, TopOperators } from "./Top";
import { Waterfall } from "./Waterfall";
import "../../ui/lines.css";
import "./overview.css";

export default function Overview() {
  const { sel } = useTrace();
  const query = useOverview(sel);
  return (
    <>
      <StepChoice steps={query.data?.steps} stale={query.isPlaceholderData} />
      <Async query={query}>{(overview) => <Content overview={overview} />}</Async>
    </>
  );
}

function Content({ overview }: { overview: OverviewAnswer }) {
  const [category, setCategory] = useAddress(params.category);
  return (
    <div className="overview stack">
      <JobVerdict overview={overview} />
      <Answer overview={overview} />
      <Kinds overview={overview} />
      <Flow className="overview-parts">
        <Waterfall overview={overview} />
        <Findings overview={overview} />
        <Tiles overview={overview} />
        <Breakdown overview={overview} />
        <AverageStep overview={overview} />
        <CategoryPanel category={category} step={null} onClose={() => setCategory("")} />
        <TopOperators overview={overview} />
        {overview.meta.device_type === "GPU" && <TopKernels overview={overview} />}
      </Flow>
      {overview.devices.length > 0 && <Devices overview={overview} />}
      <Configuration overview={overview} />
    </div>
  );
}
