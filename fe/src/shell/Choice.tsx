import { type Param, useAddress } from "../state";
import { Segmented } from "../ui";

interface Props<T extends string> {
  readonly param: Param<T>;
  readonly label: string;
  readonly labelled?: boolean;
  /** What the choices are called. */
  readonly names: Readonly<Record<T, string>>;
  /** Those there are, where not all that the address may say. */
  readonly of?: readonly T[];
  /** Writes what is chosen, where more goes with it. */
  readonly onChange?: (value: T) => void;
}

/** A switch between a few exclusive choices that stand in the address. */
export function Choice<T extends string>({
  param,
  of = param.words,
  onChange,
  ...frame
}: Props<T>) {
  const [value, set] = useAddress(param);
  return <Segmented {...frame} value={value} options={of} onChange={onChange ?? set} />;
}
