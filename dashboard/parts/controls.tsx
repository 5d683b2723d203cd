import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../asking/page-state.js';
import { type ListName, listNames, listTraits } from '../../base/lists.js';
import type { ComponentChildren, ComponentProps } from 'preact';
import type { Action } from '../../operations/action.js';
import { act } from '../asking/act.js';

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

interface CheckProps {
  readonly checked: boolean;
  readonly onCheck: (checked: boolean) => void;
}

export function Check({ checked, onCheck, children }: CheckProps & { readonly children: string }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.currentTarget.checked)} />
      {children}
    </label>
  );
}

/** Checkbox that adds names and texts of people; absent if the caller has no right to see them. */
export function PersonalCheck(props: CheckProps) {
  return useMay('personal') ? <Check {...props}>Show names and texts (audited)</Check> : null;
}

/** A text field with its label */
interface FieldProps extends Pick<ComponentProps<'input'>, 'value' | 'placeholder' | 'required' | 'maxLength'> {
  readonly label: string;
  readonly onText: (text: string) => void;
}

export function Field({ label, onText, ...input }: FieldProps) {
  return (
    <label>
      {label}
      <input {...input} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}

const listsInOrder = listNames.toSorted((a, b) => listTraits[a].menu - listTraits[b].menu);

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
      {[...(hasAll ? [['', 'all lists']] : []), ...listsInOrder.map((list) => [list, list])]}
    </Choice>
  );
}

interface ButtonProps {
  readonly children: ComponentChildren;
  /** Until the promise settles, the button is disabled. */
  readonly onPress: () => Promise<unknown> | void;
  readonly look?: 'plain' | 'main' | 'grave' | 'link';
  readonly disabled?: boolean;
  readonly label?: string;
  readonly pressed?: boolean;
}

export function Button({ children, onPress, look = 'plain', disabled = false, label, pressed }: ButtonProps) {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    try {
      await onPress();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={look}
      disabled={disabled || busy}
      aria-busy={busy}
      aria-label={label}
      aria-pressed={pressed}
      onClick={() => {
        press().catch(() => undefined);
      }}
    >
      {children}
    </button>
  );
}

/** The line below a list that shows more of it. */
export function ShowMore({ onPress }: { readonly onPress: () => void }) {
  return (
    <div class="more">
      <Button look="link" onPress={onPress}>
        Show more
      </Button>
    </div>
  );
}

interface PauseProps {
  readonly kind: Action['kind'];
  readonly name: string;
  readonly paused: boolean;
}

export function PauseButton({ kind, name, paused }: PauseProps) {
  if (!useMay('operate')) return null;
  return paused ? (
    <Button look="main" onPress={() => act({ do: 'resume', kind, name })}>
      Resume
    </Button>
  ) : (
    <Button onPress={() => act({ do: 'pause', kind, name })}>Pause…</Button>
  );
}

/** Buttons that read or sweep a workspace or a pigeonhole now. */
export function ReadButtons({ kind, name }: Pick<PauseProps, 'kind' | 'name'>) {
  if (!useMay('operate')) return null;
  return (
    <>
      <Button onPress={() => act({ do: 'poll-now', kind, name })}>Read now</Button>
      <Button onPress={() => act({ do: 'sweep', kind, name })}>Sweep</Button>
    </>
  );
}
