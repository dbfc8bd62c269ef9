/** All that the Overview knows, below its first screen. The old plugin's parts come first. */
import type { Overview, RunFindings } from "../../api";
import { CategoryPanel } from "../../shell/doors";
import { JobFindings } from "../../shell/findings";
import { useAddress, useBaseline } from "../../state";
import { Flow } from "../../ui";
import { AverageStep } from "./AverageStep";
import { Breakdown } from "./Breakdown";
import { Configuration } from "./Configuration";
import { Devices } from "./Devices";
import { Findings } from "./Findings";
import { Kinds } from "./Kinds";
import { params } from "./params";
import { MoreTiles } from "./Tiles";
import { TopKernels, TopOperators } from "./Top";
import { Waterfall } from "./Waterfall";

interface Props {
  readonly overview: Overview;
  readonly job: RunFindings | null;
}

export default function AllNumbers({ overview, job }: Props) {
  const baseline = useBaseline();
  const [category, setCategory] = useAddress(params.category);
  return (
    <div className="stack">
      <Configuration overview={overview} />
      {overview.devices.length > 0 && <Devices overview={overview} />}
      <Flow className="overview-parts">
        <AverageStep overview={overview} />
        <Breakdown overview={overview} />
        <CategoryPanel category={category} step={null} onClose={() => setCategory("")} />
        <Findings overview={overview} />
        {job && job.findings.length > 0 && <JobFindings job={job} />}
        {!baseline && <Waterfall overview={overview} />}
        <TopOperators overview={overview} />
        {overview.meta.device_type === "GPU" && <TopKernels overview={overview} />}
        <MoreTiles overview={overview} />
      </Flow>
      <Kinds overview={overview} />
    </div>
  );
}
