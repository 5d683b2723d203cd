import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../asking/connection.js';
import type { FieldsQuery } from '../../api/fields.js';

interface CommittedInputProps {
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
export function CommittedInput({ value, onCommit, label, hint, list, finds }: CommittedInputProps) {
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

export type ListName = FieldsQuery['list'];

/**
 * The lists that the page can show. It is a record, so that a new list causes a compile error until it is added here.
 */
const lists: Readonly<Record<ListName, true>> = {
  attendees: true,
  sessions: true,
  'qna-questions': true,
  questions: true,
  votes: true,
  answers: true,
  answer_ratings: true,
  'poll-mcq-votes': true,
  'poll-quiz-votes': true,
  registrants: true,
  engagement: true,
  pigeonholes: true,
  subscriptions: true,
};

const listNames = Object.keys(lists) as readonly ListName[];

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly children: readonly (readonly [string, string] | readonly string[])[];
}

export function Choice({ label, value, onChoose, children }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      {children.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface ListChoiceProps {
  readonly label?: string;
  readonly value: string;
  readonly onChoose: (list: ListName | '') => void;
  /** Whether "all lists" can be chosen; its value is empty. */
  readonly hasAll?: boolean;
}

export function ListChoice({ label = 'List', value, onChoose, hasAll = true }: ListChoiceProps) {
  return (
    <Choice label={label} value={value} onChoose={(list) => onChoose(list as ListName | '')}>
      {[...(hasAll ? [['', 'all lists']] : []), ...listNames.map((list) => [list, list])]}
    </Choice>
  );
}
