import type { Overview } from "../../api";
import { count } from "../../format";
import { overviewTexts } from "../../i18n";
import { goToView, viewName } from "../../state";
import { Link, Panel } from "../../ui";

const text = overviewTexts.configuration;

export function Configuration({ overview }: { overview: Overview }) {
  const { workers, meta, steps, devices } = overview;
  const facts: [string, string][] = [
    [text.workers, count(workers)],
    [text.deviceType, meta.device_type],
    [text.steps, count(steps.names.length)],
  ];
  if (devices.length > 0) facts.push([text.devices, count(devices.length)]);
  return (
    <Panel className="area-configuration" title={text.title}>
      <dl className="facts">
        {facts.map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="num">{fact}</dd>
          </div>
        ))}
      </dl>
      <Link className="capture-link" onClick={() => goToView("capture")}>
        {text.more(viewName("capture"))}
      </Link>
    </Panel>
  );
}
