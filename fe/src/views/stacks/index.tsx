import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Stacks() {
  return <Panel title={t.stacks.title}>{null}</Panel>;
}
