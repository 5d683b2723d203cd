import { setTimeout as sleep } from 'node:timers/promises';
import type { EventObjectView, EventView } from '../operations/provision-event.js';
import type { Output } from './context.js';
import { formatSpan } from '../base/words.js';

export type Wait = (ms: number) => Promise<unknown>;

/** The command gives up after this number of consecutive failures to reach the service. */
const maxFailures = 5;
/** Maximum wait before the next request: a wait for the quota can end early. */
const maxWaitMs = 60_000;

const comeBack = 'Ctrl-C is safe: the same command continues where this one stopped';

/**
 * Repeats a request until no temporary obstacle is left, or the service could not be reached for too long.
 * @param onView receives every answer, including those that lead to a retry: objects may have been created before
 */
export async function untilAnswered(
  ask: () => Promise<EventView>,
  out: Pick<Output, 'note'>,
  wait: Wait = sleep,
  onView: (view: EventView) => void = () => undefined,
): Promise<EventView> {
  let told: string | null = null;
  for (let failures = 0; ;) {
    // oxlint-disable-next-line no-await-in-loop -- strictly one after another
    const view = await ask();
    onView(view);
    const { hindrance, nextInMs } = view;
    if (hindrance?.kind !== 'wait' || nextInMs === null) return view;
    failures = hindrance.why === 'unreachable' ? failures + 1 : 0;
    if (failures >= maxFailures) return { ...view, nextInMs: null };
    if (told !== hindrance.why) out.note(`${waitWords(hindrance.why, nextInMs)} (${comeBack})`);
    told = hindrance.why;
    // oxlint-disable-next-line no-await-in-loop
    await wait(Math.min(nextInMs, maxWaitMs));
  }
}

function waitWords(why: string, waitMs: number): string {
  const span = formatSpan(Math.ceil(waitMs / 1000));
  switch (why) {
    case 'quota':
      return `the request quota is used up: the command continues in ${span}`;
    case 'unreachable':
      return 'the service cannot be reached: retrying';
    case 'throttled':
      return `the service requested a wait: the command continues in ${span}`;
    default:
      return 'the running pigeonpost is stopping: retrying';
  }
}

/**
 * Runs cycles until nothing more can be done automatically, and prints what is created.
 * @param runCycle receives the keys of the objects that the service has refused
 * @returns the final view; `created` and `refused` include every cycle
 */
export async function followEvent(
  runCycle: (skip: readonly string[]) => Promise<EventView>,
  out: Pick<Output, 'note'>,
  wait: Wait = sleep,
): Promise<EventView> {
  const progress = new EventProgress(out);
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- strictly one after another
    const view = await untilAnswered(
      () => runCycle(progress.refused),
      out,
      wait,
      (each) => progress.note(each),
    );
    if (view.nextInMs === null) return { ...view, objects: progress.objects };
    // oxlint-disable-next-line no-await-in-loop
    if (view.nextInMs > 0) await wait(view.nextInMs);
  }
}

/** Collects the results of the cycles of one command. */
class EventProgress {
  readonly #settled = new Map<string, EventObjectView>();
  readonly #lost = new Set<string>();
  #last: readonly EventObjectView[] = [];

  constructor(private readonly out: Pick<Output, 'note'>) {}

  get refused(): string[] {
    return [...this.#settled.values()].filter(({ state }) => state === 'refused').map(({ key }) => key);
  }

  /**
   * Returns the objects with their results. A cycle sees that an object exists, but not that an earlier cycle created
   * it.
   */
  get objects(): EventObjectView[] {
    return this.#last.map((object) => {
      const end = this.#settled.get(object.key);
      const isMade = end?.state === 'created' && (object.state === 'exists' || object.state === 'claim');
      if (isMade) return { ...object, state: 'created' };
      return end?.state === 'refused' && object.state === 'create' ? end : object;
    });
  }

  note({ objects, nextInMs }: EventView): void {
    if (objects.length > 0) this.#last = objects; // empty if the service could not be read
    for (const object of objects) {
      const { key, state, id } = object;
      if (state === 'created' || state === 'refused') this.#settled.set(key, object);
      // sent by this command, and found by the lookup
      if (state === 'claim' && this.#lost.has(key)) this.#settled.set(key, { ...object, state: 'created' });
      if (state === 'created') this.out.note(`${key} is created, id ${id}`);
      if (state === 'claim') this.out.note(`${key} was found, id ${id}`);
    }
    const news = objects.filter(({ key, state }) => state === 'unknown' && !this.#lost.has(key)).map(({ key }) => key);
    if (news.length === 0) return;
    for (const key of news) this.#lost.add(key);
    const span = formatSpan(Math.ceil((nextInMs ?? 0) / 1000));
    const when = nextInMs === 0 ? 'later' : `in ${span}`;
    this.out.note(
      `the answer about ${news.join(', ')} was lost: pigeonpost looks it up ${when}, before it sends anything again (${comeBack})`,
    );
  }
}
