import { ProcessMeters } from '../../api/metrics/serve-metrics.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const minuteMs = 60_000;
const createdAgo = (ms: number) => ({ createdAt: new Date(Date.now() - ms).toISOString() });

/** A live event whose lists fit on one page. Only sweeps read such lists. */
class SmallEvent {
  readonly #meters = new ProcessMeters({ withNode: false });
  #scene: Scene | undefined;

  private constructor(readonly stage: Stage) {}

  static async open(kind: (typeof kinds)[number]): Promise<SmallEvent> {
    const event = new SmallEvent(await stages.open(kind));
    await event.stage.put('sessions', session(1));
    await event.stage.put('attendees', attendee(1));
    return event;
  }

  /** Reads what is due a minute later. @returns the delays measured so far: their number by list, and their sum in seconds */
  async read(): Promise<{ count: Record<string, number>; seconds: number }> {
    this.#scene ??= await this.stage.scene({ meters: this.#meters });
    await this.stage.timePasses(minuteMs);
    await this.#scene.settle();
    const text = await this.#meters.text();
    const values = (suffix: string) =>
      [...text.matchAll(new RegExp(`^pigeonpost_detection_delay_seconds_${suffix}\\{list="(.*)"\\} (.*)$`, 'gm'))].map(
        ([, list, value]) => [list!, Number(value)] as const,
      );
    const seconds = values('sum').reduce((sum, [, value]) => sum + value, 0);
    return { count: Object.fromEntries(values('count')), seconds };
  }
}

describe.each(kinds)('the detection delay in lists of one page, on %s', (kind) => {
  it('is measured for new items, with and without ids', async () => {
    const event = await SmallEvent.open(kind);
    await event.stage.put('questions', question(50, 1, 1, createdAgo(minuteMs)));
    expect((await event.read()).count).toEqual({}); // the first load

    const created = createdAgo(10_000);
    await event.stage.put('questions', question(51, 1, 1, created));
    const first = await event.read();
    expect(first.count).toEqual({ questions: 1 });
    expect(first.seconds).toBeGreaterThanOrEqual(10);
    // The minute that passes for the ledger only does not count.
    expect(first.seconds).toBeLessThanOrEqual((Date.now() - Date.parse(created.createdAt)) / 1000);

    await event.stage.put('votes', vote(51, 1, 1, createdAgo(10_000)));
    expect((await event.read()).count).toEqual({ questions: 1, votes: 1 });
  });

  it('is not measured for items that a sweep finds late', async () => {
    const event = await SmallEvent.open(kind);
    await event.stage.put('questions', question(50, 1, 1, createdAgo(60 * minuteMs)));
    await event.read();

    await event.stage.put('questions', question(40, 1, 1, createdAgo(61 * minuteMs)));
    await event.stage.put('votes', vote(50, 1, 1, createdAgo(60 * minuteMs)));
    expect((await event.read()).count).toEqual({});

    await event.stage.remove('questions', 50);
    for (let reads = 0; reads < 3; reads += 1) await event.read();
    const live = `select key from items where list = 'questions' and payload is not null`;
    expect(await event.stage.db.query(live)).toEqual([{ key: '40' }]);
    await event.stage.put('questions', question(50, 1, 1, createdAgo(70 * minuteMs)));
    expect((await event.read()).count).toEqual({});
    expect(await event.stage.db.query(live)).toHaveLength(2);
  });

  it('is not measured while the event is not live', async () => {
    const event = await SmallEvent.open(kind);
    await event.stage.patch('pigeonholes', pigeonhole, { status: 'upcoming' });
    await event.read();
    await event.stage.put('questions', question(50, 1, 1, createdAgo(minuteMs)));
    for (let reads = 0; reads < 6; reads += 1) await event.read(); // every 5 minutes
    expect(await event.stage.db.query(`select key from items where list = 'questions'`)).toHaveLength(1);
    expect((await event.read()).count).toEqual({});
  });
});
