import { type RefObject, useEffect, useState } from "react";
import { t } from "../i18n";
import { Icon } from "./Icon";

interface Props {
  /** What fills the screen. */
  readonly target: RefObject<HTMLElement | null>;
  /** Its title. */
  readonly title: string;
}

/** A button that lets something fill the screen, and gives it back. Not there where the browser does not allow it. */
export function FullScreen({ target, title }: Props) {
  const [full, setFull] = useState(false);
  useEffect(() => {
    const look = () =>
      setFull(target.current !== null && document.fullscreenElement === target.current);
    document.addEventListener("fullscreenchange", look);
    return () => document.removeEventListener("fullscreenchange", look);
  }, [target]);
  if (!document.fullscreenEnabled) return null;
  const label = full ? t.panel.window : t.panel.fullScreen(title);
  return (
    <button
      type="button"
      className="panel-full"
      aria-label={label}
      title={label}
      onClick={() => {
        // Refused while another request for it is under way; then nothing is lost.
        const done = full ? document.exitFullscreen() : target.current?.requestFullscreen();
        done?.catch(() => {});
      }}
    >
      <Icon name={full ? "shrink" : "enlarge"} />
    </button>
  );
}
