/** A switch between a few exclusive choices. */
interface Props<T extends string> {
  label: string;
  /** Whether the label stands in front of the choices, too. */
  labelled?: boolean;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}

export function Segmented<T extends string>(props: Props<T>) {
  const { label, labelled = false, value, options, onChange } = props;
  const choices = (
    <fieldset className="segmented">
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
  return labelled ? (
    <>
      <span className="muted">{label}</span>
      {choices}
    </>
  ) : (
    choices
  );
}
