import { useEffect, useState } from 'preact/hooks';

interface Props {
  readonly value: string;
  /** Called when the input is complete: on Enter, on a choice from the list, or when the field loses the focus. */
  readonly onCommit: (value: string) => void;
  /** Accessible name, if there is no label around it. */
  readonly label?: string;
  readonly hint?: string;
  /** ID of the `datalist` with the suggestions. */
  readonly list?: string;
  /** Gets the focus when "/" is pressed. */
  readonly finds?: boolean;
}

/** Text field that reports its value when the input is complete. Unfinished input survives a render of the page. */
export function CommittedInput({ value, onCommit, label, hint, list, finds }: Props) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return (
    <input
      autocomplete="off"
      aria-label={label}
      placeholder={hint}
      list={list}
      data-finds={finds}
      value={draft}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => onCommit(event.currentTarget.value.trim())}
    />
  );
}
