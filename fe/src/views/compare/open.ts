import { equals } from "../../format";
import { change, setAddress } from "../../state";
import { params } from "./params";
import type { Part } from "./parts";

/** Going into a part is a step that Back undoes; the filter and the page were those of another level. */
export function openPath(path: string): void {
  setAddress(change(params.part, path), change(params.filter, ""), change(params.page, 1));
}

export function openPart(part: Part): void {
  if (part.path !== null) openPath(part.path);
  // Several of one name: shown one by one.
  else if (part.times > 1)
    setAddress(change(params.filter, equals("part", part.title)), change(params.order, "each"));
}
