/** Everything there is to go to and to do, found by typing. Its code is fetched when it is first asked for. */
import { useState } from "react";
import type { Status } from "../../api";
import { t } from "../../i18n";
import type { CurrentTrace } from "../../state";
import { Boundary, later, useModal } from "../../ui";
import type { Commands } from "./commands";
import "./palette.css";

const PaletteSearch = later(() => import("./PaletteSearch"), Waiting);
export const preloadPalette = PaletteSearch.preload;

interface Props {
  status: Status | undefined;
  current: CurrentTrace;
  commands: Commands;
  onClose: () => void;
}

export function Palette({ status, current, commands, onClose }: Props) {
  const modal = useModal(onClose);
  const [typed, setTyped] = useState("");
  return (
    <dialog {...modal.props} className="palette" aria-label={t.palette.title}>
      <Boundary>
        <PaletteSearch
          status={status}
          current={current}
          commands={commands}
          typed={typed}
          onType={setTyped}
          onDone={(chosen) => {
            // Closed first, which gives the focus back: what the entry does may move it.
            modal.close();
            chosen.run();
          }}
        />
      </Boundary>
    </dialog>
  );
}

interface WaitingProps {
  typed: string;
  onType: (text: string) => void;
}

/** The field alone: nothing that is typed meanwhile gets lost. */
function Waiting({ typed, onType }: WaitingProps) {
  return (
    <input
      className="palette-field"
      aria-label={t.palette.title}
      placeholder={t.palette.hint}
      autoComplete="off"
      spellCheck={false}
      // biome-ignore lint/a11y/noAutofocus: a dialog that consists of a field to type into
      autoFocus
      value={typed}
      onChange={(event) => onType(event.target.value)}
    />
  );
}
