import { useState } from 'preact/hooks';
import type { ErasurePlanView } from '../../api/erasures.js';
import { countedItems } from '../../base/item-titles.js';
import { counted } from '../../base/words.js';
import { post, refusalOf } from '../asking/ask.js';
import { useOnce } from '../asking/use-once.js';
import { address } from '../route.js';
import { Button, Field } from './controls.js';
import { useModal } from './dialogs.js';
import { AwaitAnswer, Refusal } from './panel.js';

/** A way to name a person in a request. An id needs its workspace. */
export interface NamedPerson {
  /** In words, such as `in this event only`. */
  readonly label: string;
  readonly attendee: string;
  readonly workspace?: string;
}

interface Props {
  /** Name of the person; null: not known. */
  readonly name: string | null;
  /** The narrowest first. */
  readonly ways: readonly NamedPerson[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Asks whether to forget a person, after it has shown what would be erased. Opens the receipts afterwards. */
export function ForgetDialog({ name, ways, isOpen, onClose }: Props) {
  const dialog = useModal(isOpen);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="forget-title"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      {isOpen ? <Forget name={name} ways={ways} onClose={onClose} /> : null}
    </dialog>
  );
}

function Forget({ name, ways, onClose }: Omit<Props, 'isOpen'>) {
  const [chosen, setChosen] = useState(0);
  const [reason, setReason] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const { attendee, workspace } = ways[chosen]!;
  const named = { attendee, ...(workspace === undefined ? {} : { workspace }) };
  const plan = useOnce(JSON.stringify(named), async () => await post('/api/erasures/plan', { json: named }));
  const forget = async (): Promise<void> => {
    try {
      const given = reason.trim() === '' ? {} : { reason: reason.trim() };
      const { id } = await post('/api/erasures', { json: { id: randomUuid(), ...named, ...given } });
      onClose();
      location.hash = address.erasure(id);
    } catch (error) {
      setRefused(refusalOf(error, 'pigeonpost cannot be reached'));
    }
  };
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <h2 id="forget-title">Forget {name ?? 'this person'}?</h2>
      <div class="body">
        {ways.length < 2 ? null : (
          <fieldset>
            <legend>Where</legend>
            {ways.map(({ label }, at) => (
              <label key={label} class="check">
                <input type="radio" name="way" checked={at === chosen} onChange={() => setChosen(at)} />
                {label}
              </label>
            ))}
          </fieldset>
        )}
        <AwaitAnswer asked={plan} lines={3}>
          {(counts) => <Plan plan={counts} />}
        </AwaitAnswer>
        <p>
          pigeonpost erases this in the ledger, in imports and in files, sends a removal to each sink, and accepts
          nothing more of this person. This cannot be undone.
        </p>
        {refused === null ? null : <Refusal text={refused} />}
      </div>
      <Field
        label="Reason, without names (optional)"
        value={reason}
        maxLength={500}
        placeholder="Request of 21 November"
        onText={setReason}
      />
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <Button look="grave" disabled={plan.data === undefined} onPress={forget}>
          Forget
        </Button>
      </div>
    </form>
  );
}

/** Shows in numbers which data would be erased. */
function Plan({ plan: { people, items, importRows, sinks, sharing } }: { readonly plan: ErasurePlanView }) {
  const counts = Object.entries(items).map(([list, n]) => countedItems(n, list));
  return (
    <ul class="list">
      <li>
        {counted(people.length, 'event')}:{' '}
        {people.map(({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}`).join(', ') || 'none'}
      </li>
      <li>{counts.join(', ') || 'no items'}, and anonymous items, which nobody may count</li>
      {importRows === 0 ? null : <li>{counted(importRows, 'row')} of imports</li>}
      <li>{sinks.length === 0 ? 'No sink has received any of it.' : `Received by ${sinks.join(', ')}.`}</li>
      {sharing === 0 ? null : (
        <li>{counted(sharing, 'other person', 'other people')} with the same e-mail address: kept</li>
      )}
    </ul>
  );
}

/** Returns a random UUID. `crypto.randomUUID` is missing where the page is served over plain HTTP. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
