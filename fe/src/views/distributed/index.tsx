import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Distributed() {
  return <Panel title={t.distributed.title}>{null}</Panel>;
}
