import { t } from "../../i18n";
import { Panel } from "../../ui";

export default function Compare() {
  return <Panel title={t.compare.title}>{null}</Panel>;
}
