/** What is open of the Overview: the details of findings, and all numbers below the first screen. The address has it. */
import { change, setAddress, useAddress } from "../../state";
import { ALL, params } from "./params";

export function useFold() {
  const [opened, setOpened] = useAddress(params.open);
  const [cause] = useAddress(params.cause);
  const [category] = useAddress(params.category);
  const [mode] = useAddress(params.mode);
  // What these show is below the fold: addresses of before there was one have it open.
  const isOpen = opened.includes(ALL) || cause !== "" || category !== "" || mode !== "absolute";
  const toggle = (key: string) => {
    if (key === ALL && isOpen)
      setAddress(
        change(
          params.open,
          opened.filter((each) => each !== ALL),
        ),
        change(params.cause, ""),
        change(params.category, ""),
        change(params.mode, "absolute"),
      );
    else setOpened(opened.includes(key) ? opened.filter((each) => each !== key) : [...opened, key]);
  };
  /** Opens it, and brings a part of it into sight once it is there. */
  const unfold = (key: string, part: string) => {
    if (!opened.includes(key)) setOpened([...opened, key]);
    comeIntoSight(part);
  };
  return { opened, isOpen, toggle, unfold };
}

/** Frames in which something that was opened comes: its code may have to be fetched. */
const FRAMES = 120;

function comeIntoSight(selector: string, frames = FRAMES): void {
  requestAnimationFrame(() => {
    const part = document.querySelector(selector);
    if (part) part.scrollIntoView({ block: "nearest" });
    else if (frames > 0) comeIntoSight(selector, frames - 1);
  });
}
