import { partName } from "../draw/parts";
import { Link } from "./Button";

interface PartButtonProps {
  part: string;
  picked: string;
  pick: (part: string) => void;
}

/** The name of a part of the step; a click picks it, another one lets go of it. */
export function PartButton({ part, picked, pick }: PartButtonProps) {
  const isPicked = part === picked;
  return (
    <Link aria-pressed={isPicked} onClick={() => pick(isPicked ? "" : part)}>
      {partName(part)}
    </Link>
  );
}
