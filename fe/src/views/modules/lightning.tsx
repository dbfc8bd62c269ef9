/** The same view, for those who look for Lightning. */
import { ModulesView } from "./ModulesView";

export default function Lightning() {
  return <ModulesView usual="lightning" />;
}
