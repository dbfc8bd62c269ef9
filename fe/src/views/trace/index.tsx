import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Trace() {
  return <Panel title={t.trace.title}>{null}</Panel>;
}
