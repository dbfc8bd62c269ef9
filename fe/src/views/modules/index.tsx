/** Which modules take the time, forward and backward. */
import { ModulesView } from "./ModulesView";

export default function Modules() {
  return <ModulesView usual="nn" />;
}
