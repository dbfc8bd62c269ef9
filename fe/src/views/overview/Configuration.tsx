import type { Overview } from "../../api";
import { count } from "../../format";
import { overviewTexts } from "../../i18n";
import { goToView, viewName } from "../../state";
import { Facts, Link, Panel } from "../../ui";

const text = overviewTexts.configuration;

export function Configuration({ overview }: { overview: Overview }) {
  const { workers, meta, steps, devices } = overview;
  const facts = [
    { name: text.workers, value: count(workers) },
    { name: text.deviceType, value: meta.device_type },
    { name: text.steps, value: count(steps.names.length) },
    ...(devices.length > 0 ? [{ name: text.devices, value: count(devices.length) }] : []),
  ];
  return (
    <Panel className="area-configuration" title={text.title}>
      <Facts look="line" facts={facts} />
      <Link className="capture-link" onClick={() => goToView("health")}>
        {text.more(viewName("health"))}
      </Link>
    </Panel>
  );
}
