import { useMay } from '../asking/caller.js';

interface PersonalCheckProps {
  readonly checked: boolean;
  readonly onCheck: (checked: boolean) => void;
}

/** Checkbox that adds names and texts of people; absent if the caller has no right to see them. */
export function PersonalCheck({ checked, onCheck }: PersonalCheckProps) {
  if (!useMay('personal')) return null;
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.currentTarget.checked)} />
      Show names and texts (audited)
    </label>
  );
}
