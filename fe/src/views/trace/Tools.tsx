/** What stands in the line of the title: what dragging does, and how the picture looks. */
import { useId } from "react";
import { traceTexts as text } from "../../i18n";
import { Choice } from "../../shell";
import { useAddress } from "../../state";
import { COLOR_BY, type ColorBy, type Tool } from "../../timeline";
import { Combo, Popup, Segmented } from "../../ui";
import { Bookmarks, useBookmarks } from "./Bookmarks";
import { ExplainMenu } from "./Explain";
import { FLOW_MODES } from "./look";
import { params } from "./params";
import { useModel, useTraceState } from "./useTraceModel";

interface Props {
  readonly tool: Tool;
  readonly onTool: (tool: Tool) => void;
}

export function Tools({ tool, onTool }: Props) {
  const { stage } = useModel();
  const { windows } = useTraceState();
  return (
    <div className="trace-tools">
      <Segmented
        label={text.tool}
        value={tool}
        options={["pan", "range", "measure"]}
        names={text.tools}
        onChange={onTool}
      />
      <LookMenu />
      <ExplainMenu />
      <Bookmarks
        bookmarks={useBookmarks()}
        onGo={(next) => stage.current?.look(next)}
        current={() => stage.current?.window ?? windows.window}
      />
    </div>
  );
}

function LookMenu() {
  const [colorBy, setColorBy] = useAddress(params.colorBy);
  const [least, setLeast] = useAddress(params.least);
  const id = useId();
  return (
    <Popup label={text.look}>
      {() => (
        <div className="trace-menu trace-look">
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
        </div>
      )}
    </Popup>
  );
}
