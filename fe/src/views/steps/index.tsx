import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Steps() {
  return <Panel title={t.steps.title}>{null}</Panel>;
}
