/** What stands above the picture. */
import { useId } from "react";
import type { TimeWindow } from "../../draw";
import { traceTexts as text } from "../../i18n";
import { Choice } from "../../shell";
import { useAddress } from "../../state";
import { COLOR_BY, type ColorBy, type Tool } from "../../timeline";
import { Combo, Segmented } from "../../ui";
import { Bookmarks, type BookmarksState } from "./Bookmarks";
import { ExplainMenu } from "./Explain";
import { FLOW_MODES } from "./look";
import { params } from "./params";

interface Props {
  readonly tool: Tool;
  readonly onTool: (tool: Tool) => void;
  readonly bookmarks: BookmarksState;
  readonly current: () => TimeWindow;
  readonly onGo: (window: TimeWindow) => void;
}

export function Tools({ tool, onTool, bookmarks, current, onGo }: Props) {
  const [colorBy, setColorBy] = useAddress(params.colorBy);
  const [least, setLeast] = useAddress(params.least);
  const id = useId();
  return (
    <div className="trace-tools">
      <Segmented
        label={text.tool}
        value={tool}
        options={["pan", "range", "measure"]}
        names={text.tools}
        onChange={onTool}
      />
      <Choice
        labelled
        param={params.flows}
        label={text.flows}
        names={text.flowModes}
        of={FLOW_MODES}
      />
      <Combo
        label={text.colorBy}
        value={colorBy}
        options={COLOR_BY.map((value) => ({ value, label: text.colors[value] }))}
        onChange={(value) => setColorBy(value as ColorBy)}
      />
      <span className="trace-pair">
        <label htmlFor={`${id}least`}>{text.least}</label>
        <input
          id={`${id}least`}
          className="trace-field trace-least num"
          inputMode="decimal"
          autoComplete="off"
          value={least}
          onChange={(event) => setLeast(event.target.value)}
        />
      </span>
      <ExplainMenu />
      <Bookmarks bookmarks={bookmarks} current={current} onGo={onGo} />
    </div>
  );
}
