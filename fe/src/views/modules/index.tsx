import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Modules() {
  return <Panel title={t.modules.title}>{null}</Panel>;
}
