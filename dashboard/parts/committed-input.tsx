import { useEffect, useState } from 'preact/hooks';

interface Props {
  readonly value: string;
  /** Told when the person is done: with Enter, with a choice from the list, or by going elsewhere. */
  readonly onCommit: (value: string) => void;
  /** Accessible name, if there is no label around it. */
  readonly label?: string;
  readonly hint?: string;
  /** The id of what may be chosen from. */
  readonly list?: string;
  /** The key that leads to searches leads here. */
  readonly finds?: boolean;
}

/** A line of text that counts once it is whole. What is half written stays when the page around it is drawn anew. */
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
