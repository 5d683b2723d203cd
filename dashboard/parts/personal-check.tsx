import { useMay } from '../asking/caller.js';

interface PersonalCheckProps {
  readonly checked: boolean;
  readonly onCheck: (checked: boolean) => void;
}

/** Asks for what people are called and have written; nothing where the caller may not see it. */
export function PersonalCheck({ checked, onCheck }: PersonalCheckProps) {
  if (!useMay('personal')) return null;
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.currentTarget.checked)} />
      with names and texts (noted in the audit log)
    </label>
  );
}
