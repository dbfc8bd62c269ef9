import { memoryTexts as text } from "../../i18n";
import { Segmented } from "../../ui";
import { AlivePanel } from "./Alive";
import { EventsPanel } from "./Events";
import { type Moment, TABS } from "./look";
import { ModulesPanel } from "./Modules";
import { OperatorsPanel } from "./Operators";
import type { TableProps } from "./RangeLine";
import { useTab } from "./useLook";

interface Props extends Omit<TableProps, "tabs"> {
  readonly hasCurve: boolean;
  /** Null while it is not known. */
  readonly moment: Moment | null;
}

export function Tables({ look, device, hasCurve, moment }: Props) {
  // Traces without totals have no addresses either: only the table of operators is there.
  const [tab, setTab] = useTab(hasCurve ? "alive" : "operators");
  const tabs = (
    <Segmented label={text.tabs} value={tab} options={TABS} names={text.tab} onChange={setTab} />
  );
  const props = { look, device, tabs };
  switch (tab) {
    case "events":
      return <EventsPanel {...props} />;
    case "operators":
      return <OperatorsPanel {...props} />;
    case "modules":
      return <ModulesPanel {...props} />;
    default:
      return (
        <AlivePanel
          key={tab}
          {...props}
          device={moment || !hasCurve ? device : null}
          moment={moment}
          grouped={tab === "holders"}
        />
      );
  }
}
