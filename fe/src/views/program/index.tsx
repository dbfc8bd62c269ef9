/** What the program did: phases, its own ranges, inference, compiled code, graphs. */
import { Flow } from "../../ui";
import { CompiledCode } from "./CompiledCode";
import { InferencePanels } from "./InferencePanels";
import { PhasePanels } from "./PhasePanels";
import { Ranges } from "./Ranges";
import { ReplayedGraphs } from "./ReplayedGraphs";
import "../../ui/lines.css";
import "./program.css";

export default function Program() {
  return (
    <Flow className="program">
      <PhasePanels />
      <InferencePanels />
      <Ranges />
      <CompiledCode />
      <ReplayedGraphs />
    </Flow>
  );
}
