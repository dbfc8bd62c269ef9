import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Memory() {
  return <Panel title={t.memory.title}>{null}</Panel>;
}
