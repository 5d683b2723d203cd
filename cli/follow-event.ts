import { setTimeout as sleep } from 'node:timers/promises';
import type { EventObjectView, EventView } from '../operations/provision-event.js';
import type { Output } from './context.js';
import { spanInWords } from './format-values.js';

export type Wait = (ms: number) => Promise<unknown>;

/** A service that cannot be reached so often in a row is told, and left. */
const mostFailures = 5;
/** A wait for the quota can end early, for a plan can be changed. */
const longestWaitMs = 60_000;

const comeBack = 'Ctrl-C is safe: the same command goes on where this one stopped';

/**
 * Asks until nothing passing is in the way, or the service cannot be reached for long.
 * @param onView sees every answer, also those after which is asked again: something may have been done before
 */
export async function untilAnswered(
  ask: () => Promise<EventView>,
  out: Pick<Output, 'note'>,
  wait: Wait = sleep,
  onView: (view: EventView) => void = () => undefined,
): Promise<EventView> {
  let told: string | null = null;
  for (let failures = 0; ;) {
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    const view = await ask();
    onView(view);
    const { hindrance, nextInMs } = view;
    if (hindrance?.kind !== 'wait' || nextInMs === null) return view;
    failures = hindrance.why === 'unreachable' ? failures + 1 : 0;
    if (failures >= mostFailures) return { ...view, nextInMs: null };
    if (told !== hindrance.why) out.note(`${waitWords(hindrance.why, nextInMs)} (${comeBack})`);
    told = hindrance.why;
    // oxlint-disable-next-line no-await-in-loop
    await wait(Math.min(nextInMs, longestWaitMs));
  }
}

function waitWords(why: string, waitMs: number): string {
  const span = spanInWords(Math.ceil(waitMs / 1000));
  switch (why) {
    case 'quota':
      return `the request quota does not allow it now: it goes on in ${span}`;
    case 'unreachable':
      return 'the service cannot be reached: it is tried again';
    case 'throttled':
      return `the service asks to wait: it goes on in ${span}`;
    default:
      return 'the running pigeonpost is ending: it is asked again';
  }
}

/**
 * Has turn after turn taken until nothing gets on by itself, telling what is created on the way.
 * @param takeTurn gets the names of what the service has refused by now
 * @returns how everything stands then: `created` and `refused` are those of any turn
 */
export async function followEvent(
  takeTurn: (skip: readonly string[]) => Promise<EventView>,
  out: Pick<Output, 'note'>,
  wait: Wait = sleep,
): Promise<EventView> {
  const journey = new Journey(out);
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    const view = await untilAnswered(
      () => takeTurn(journey.refused),
      out,
      wait,
      (each) => journey.note(each),
    );
    if (view.nextInMs === null) return { ...view, objects: journey.objects };
    // oxlint-disable-next-line no-await-in-loop
    if (view.nextInMs > 0) await wait(view.nextInMs);
  }
}

/** What became of the objects in the turns of one command. */
class Journey {
  readonly #settled = new Map<string, EventObjectView>();
  readonly #lost = new Set<string>();
  #last: readonly EventObjectView[] = [];

  constructor(private readonly out: Pick<Output, 'note'>) {}

  get refused(): string[] {
    return [...this.#settled.values()].filter(({ state }) => state === 'refused').map(({ key }) => key);
  }

  /** As they stand now: a turn sees what exists, and no more that an earlier one has made it. */
  get objects(): EventObjectView[] {
    return this.#last.map((object) => {
      const end = this.#settled.get(object.key);
      const isMade = end?.state === 'created' && (object.state === 'exists' || object.state === 'claim');
      if (isMade) return { ...object, state: 'created' };
      return end?.state === 'refused' && object.state === 'create' ? end : object;
    });
  }

  note({ objects, nextInMs }: EventView): void {
    if (objects.length > 0) this.#last = objects; // none: it could not be looked at this time
    for (const object of objects) {
      const { key, state, id } = object;
      if (state === 'created' || state === 'refused') this.#settled.set(key, object);
      // sent by this very command, and found
      if (state === 'claim' && this.#lost.has(key)) this.#settled.set(key, { ...object, state: 'created' });
      if (state === 'created') this.out.note(`${key} is created, id ${id}`);
      if (state === 'claim') this.out.note(`${key} was found, id ${id}`);
    }
    const news = objects.filter(({ key, state }) => state === 'unknown' && !this.#lost.has(key)).map(({ key }) => key);
    if (news.length === 0) return;
    for (const key of news) this.#lost.add(key);
    const span = spanInWords(Math.ceil((nextInMs ?? 0) / 1000));
    const when = nextInMs === 0 ? 'later' : `in ${span}`;
    this.out.note(
      `no answer came about ${news.join(', ')}: looked up ${when}, before anything is sent again (${comeBack})`,
    );
  }
}
