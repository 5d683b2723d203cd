import { randomUUID } from 'node:crypto';
import { forgetAttendee } from '../../delivering/forget-attendee.js';
import type { ErasureResult } from '../../cycles/cycle-results.js';
import { countSharing, findPerson, type PersonName } from '../../people/find-person.js';
import { requestErasure } from '../../people/erasure-states.js';
import type { Scene } from './scene.js';
import type { Stage } from './stage.js';

const never = new AbortController().signal;

/**
 * Requests the erasure of a person, like a request to the API.
 * @param name with `asked` if the text of the request is not the name itself, such as `email:…`
 * @returns the id of the erasure
 */
export async function askToForget(
  { ledger }: Scene,
  { asked, ...name }: Omit<PersonName, 'workspace'> & { readonly asked?: string },
): Promise<string> {
  const id = randomUUID();
  const places = await findPerson(ledger, { ...name, workspace: null });
  const sharing = await countSharing(ledger, places, null);
  await requestErasure(ledger, { id, names: { asked: asked ?? name.text, places }, by: null, reason: null, sharing });
  return id;
}

/** Runs one cycle of the workflow. */
export async function forgetTurn({ deps }: Scene, id: string): Promise<ErasureResult> {
  return await forgetAttendee(deps, id, never);
}

/** Runs cycles of the erasure and of the sinks until the person is forgotten. @returns the results of the cycles */
export async function forget(stage: Stage, scene: Scene, id: string): Promise<ErasureResult[]> {
  const turns: ErasureResult[] = [];
  for (let round = 0; round < 10; round += 1) {
    const turn = await forgetTurn(scene, id);
    turns.push(turn);
    if (turn.state === 'finished') return turns;
    await stage.retriesAreDue();
    for (const sink of scene.deps.sinks.keys()) await scene.deliver(sink);
  }
  throw new Error(`not forgotten after ${turns.length} turns: ${JSON.stringify(turns.at(-1))}`);
}
