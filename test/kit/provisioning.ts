import { applyEvent, type EventResult, lookAtEvent } from '../../importing/provisioning/apply-event.js';
import type { Decisions } from '../../importing/provisioning/object-states.js';
import { readEventFile } from '../../config/event-file.js';
import { passTime } from './pass-time.js';
import type { Scene } from './scene.js';
import { until } from '../until.js';
import type { Stage } from './stage.js';

/** Delay before an unanswered request is looked up, as in production. */
export const lookUpAfterMs = 60_000;

export const summit = `id: summit
pigeonhole:
  name: ACME Summit
  startDate: 2026-11-21
  endDate: 2026-11-22
  timezone: Europe/Berlin
sessions:
  - { id: opening, name: Questions, type: qna, startDate: 2026-11-21T09:00, endDate: 2026-11-21T10:00 }
  - { id: closing, name: Questions, type: qna, startDate: 2026-11-22T16:00, endDate: 2026-11-22T17:00 }
  - { id: words, name: In one word, type: poll_word_cloud }
`;

export interface Asked {
  readonly use?: Decisions['use'];
  readonly create?: readonly string[];
}

export async function look(scene: Scene, text: string, asked: Asked = {}): Promise<EventResult> {
  const decisions = { use: {}, create: [], ...asked };
  return await lookAtEvent(scene.deps, readEventFile(text, 'event.yaml'), {
    workspace: 'acme',
    decisions,
    lookUpAfterMs,
  });
}

export async function applyOnce(
  scene: Scene,
  text: string,
  asked: Asked = {},
  skip: readonly string[] = [],
): Promise<EventResult> {
  const decisions = { use: {}, create: [], ...asked };
  const options = {
    workspace: 'acme',
    decisions,
    lookUpAfterMs,
    by: 'ada',
    skip,
    untilMs: performance.now() + 600_000,
  };
  return await applyEvent(scene.deps, readEventFile(text, 'event.yaml'), options);
}

/** Runs cycles as the command does until nothing more happens automatically; waits pass immediately for the ledger. */
export async function applyAll(stage: Stage, scene: Scene, text: string, asked: Asked = {}): Promise<EventResult> {
  const skip: string[] = [];
  let turn = await applyOnce(scene, text, asked, skip);
  // Cycles may wait for the network, which the ledger's clock does not speed up, so only time limits them.
  await until('nothing more happens to the event automatically', async () => {
    skip.push(...turn.objects.filter(({ outcome }) => outcome.state === 'refused').map(({ object }) => object.key));
    if (turn.nextInMs === null) return true;
    await passTime(stage.db, turn.nextInMs);
    turn = await applyOnce(scene, text, asked, skip);
    return false;
  });
  return turn;
}

/** Returns `key: state` of each object. */
export function states(turn: EventResult): string[] {
  return turn.objects.map(({ object, outcome }) => `${object.key}: ${outcome.state}`);
}

/** Returns the created objects in the service: names of pigeonholes, and names and starts of their sessions. */
export async function made(stage: Stage): Promise<{ pigeonholes: string[]; sessions: string[] }> {
  const pigeonholes = (await truth(stage, 'pigeonholes')).filter(({ id }) => id !== 101);
  const sessions = await Promise.all(pigeonholes.map(({ id }) => truth(stage, `sessions?pigeonhole=${String(id)}`)));
  return {
    pigeonholes: pigeonholes.map(({ name }) => String(name)),
    sessions: sessions
      .flat()
      .map(({ name, startDate }) => `${String(name)} ${String(startDate)}`)
      .toSorted(),
  };
}

/** All objects of `summit`, each once. */
export const wholeSummit = {
  pigeonholes: ['ACME Summit'],
  sessions: ['In one word null', 'Questions 2026-11-21T09:00:00+01:00', 'Questions 2026-11-22T16:00:00+01:00'],
};

export async function truth(stage: Stage, list: string): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${stage.sandbox.baseUrl}/_control/truth/${list}`);
  return (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Returns the paths of create requests since the last call. */
export async function posts(stage: Stage): Promise<string[]> {
  const { requests } = await stage.control('GET', 'requests?last=1000');
  await stage.control('DELETE', 'requests');
  return (requests as { method: string; path: string }[])
    .filter(({ method }) => method === 'POST')
    .map(({ path }) => path);
}
