import type { PigeonholeDetails } from '../../api/pigeonholes.js';
import { ask } from '../asking/ask.js';
import { carryOut } from '../asking/act.js';
import { useMay } from '../asking/caller.js';
import { tell } from '../asking/notices.js';
import { askPerson } from '../asking/questions.js';
import { Button } from './button.js';

interface Props {
  readonly name: string;
  readonly rehearsal: PigeonholeDetails['rehearsal'];
}

/** Starts a rehearsal, in which every list is read at the live interval, or ends the one that is on. */
export function RehearsalButton({ name, rehearsal }: Props) {
  if (!useMay('operate')) return null;
  return rehearsal === null ? (
    <Button onPress={() => start(name)}>Rehearse…</Button>
  ) : (
    <Button look="main" onPress={() => poll(name, 0, `the rehearsal of ${name} is over`)}>
      End rehearsal
    </Button>
  );
}

async function start(name: string): Promise<void> {
  const given = await askPerson({
    title: `Rehearse ${name}?`,
    body: 'Until the rehearsal ends, every list is read at the live interval, also before the event and outside session times. It uses more of the request quota.',
    confirm: 'Start',
    field: { label: 'Hours', hint: '2 unless you write another number, up to 24' },
  });
  if (given === null) return;
  const hours = given.trim() === '' ? 2 : Number(given.replace(',', '.'));
  if (!(hours > 0 && hours <= 24)) {
    tell('failed', `"${given}" is not a number of hours from 0 to 24`);
    return;
  }
  await poll(name, Math.ceil(hours * 3600), `every list of ${name} is read at the live interval`);
}

async function poll(name: string, forSeconds: number, done: string): Promise<void> {
  const json = { do: 'poll-now', kind: 'pigeonhole', name, forSeconds };
  await carryOut(
    () => ask('/api/actions', { json }),
    () => done,
  );
}
