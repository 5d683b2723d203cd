import type { Fields, Planned, Subject } from '../sink.js';
import type { XapiOperation } from './plan.js';
import { attendee, items, subjectFor, configurationFor } from './subjects.test-kit.js';
import { createXapiSink } from './xapi.js';
import { environmentOf } from '../sink-environment.test-kit.js';

/** The stored objects of answers, as the delivery engine keeps them. */
const objects = new Map<string, Fields>();
beforeEach(() => objects.clear());

type AnswerOptions = { readonly gone?: boolean; readonly hidden?: boolean; readonly replay?: string };

/** Returns an answer with an option and a time that depend on its key. */
function answer(key: number, { gone, hidden, replay }: AnswerOptions = {}): Subject {
  const data = {
    ...items['poll-mcq-votes'],
    id: key,
    createdAt: `2026-11-21T09:30:${key}Z`,
    option: { id: 100 - key, content: `Option ${key}` },
  };
  const change = { key: String(key), id: `change-${key}`, revision: gone === true ? 2 : 1, ...(replay && { replay }) };
  return subjectFor('poll-mcq-votes', gone === true ? null : data, change, {
    attendee: hidden === true ? null : attendee,
    object: objects.get(String(key)) ?? null,
  });
}

/** Returns each of the changed answers with all others as its siblings. */
function joined(changed: readonly Subject[], others: readonly Subject[] = []): Subject[] {
  return changed.map((subject) => ({
    ...subject,
    siblings: [...changed, ...others].filter((each) => each !== subject),
  }));
}

async function plan(subjects: readonly Subject[]): Promise<Planned<XapiOperation>[]> {
  const sink = createXapiSink(configurationFor('http://127.0.0.1:9/xapi'), environmentOf('lms'));
  const planned = await sink.plan(subjects);
  await sink.close();
  return planned;
}

/** Plans, and stores the objects of a delivery, or with `unsure`, the objects after a lost response. */
async function deliver(subjects: readonly Subject[], state: 'after' | 'unsure' = 'after') {
  const planned = await plan(subjects);
  const operations = planned.map((each) => {
    if (each.kind !== 'send') throw new Error(`nothing is sent: ${JSON.stringify(each)}`);
    return each.operation;
  });
  for (const [index, operation] of operations.entries()) {
    for (const [key, object] of Object.entries(operation.siblings?.[state] ?? {})) objects.set(key, object);
    objects.set(subjects[index]!.change.key, operation[state]);
  }
  return operations.map(({ statements }) =>
    statements.map(({ id, object, result }) => ({
      id,
      response: result?.response,
      voids: 'definition' in object ? undefined : object.id,
    })),
  );
}

describe('the answers of an attendee to one question', () => {
  it('become one statement with all options and the time of the last answer', async () => {
    const [first] = await plan(joined([answer(11), answer(12)]));
    expect(first).toMatchObject({
      operation: {
        statements: [
          {
            object: { definition: { choices: [{ id: '88' }, { id: '89' }] } },
            result: { response: '88[,]89' },
            timestamp: '2026-11-21T09:30:12.000Z',
          },
        ],
      },
    });
  });

  it('are the same statement in each of their operations, so that the statement is sent once', async () => {
    const [one, other] = await deliver(joined([answer(11), answer(12)]));
    expect(one).toHaveLength(1);
    expect(other).toEqual(one);
  });

  it('are a new statement after each change, which voids the previous one', async () => {
    const [single] = await deliver([answer(11)]);
    const [both] = await deliver(joined([answer(12)], [answer(11)]));
    expect(both).toMatchObject([{ response: '88[,]89' }, { voids: single![0]!.id }]);
    const [left] = await deliver(joined([answer(11, { gone: true })], [answer(12)]));
    expect(left).toMatchObject([{ response: '88' }, { voids: both![0]!.id }]);
    const [again] = await deliver(joined([answer(11)], [answer(12)]));
    expect(again).toMatchObject([{ response: '88[,]89' }, { voids: left![0]!.id }]);
    expect(again![0]!.id).not.toBe(both![0]!.id); // a voided id never becomes valid again
  });

  it('do not include the answer of an attendee who is no longer visible', async () => {
    const [both] = await deliver(joined([answer(11), answer(12)]));
    const [left] = await deliver(joined([answer(12, { hidden: true })], [answer(11)]));
    expect(left).toMatchObject([{ response: '89' }, { voids: both![0]!.id }]);
    const [none] = await deliver(joined([answer(11, { hidden: true })], [answer(12, { hidden: true })]));
    expect(none).toEqual([{ id: expect.any(String), response: undefined, voids: left![0]!.id }]);
  });

  it('are not sent again for an answer that a statement already includes, except in a replay', async () => {
    await deliver(joined([answer(11)], [answer(12)]));
    expect(await plan(joined([answer(12)], [answer(11)]))).toEqual([{ kind: 'nothing', reason: 'unchanged' }]);
    const [again] = await deliver(joined([answer(12, { replay: 'r1' })], [answer(11)]));
    expect(again).toMatchObject([{ id: objects.get('11')!['statement'], response: '88[,]89' }]);
  });

  it('are sent again with the same id after a lost response, and voided if they have changed', async () => {
    const [lost] = await deliver(joined([answer(11), answer(12)]), 'unsure');
    expect((await deliver(joined([answer(11), answer(12)]), 'unsure'))[0]).toEqual(lost);
    const [next] = await deliver(joined([answer(13)], [answer(11), answer(12)]));
    expect(next).toMatchObject([{ response: '87[,]88[,]89' }, { voids: lost![0]!.id }]);
  });

  it('keep their statement if a deleted answer was not part of it any longer', async () => {
    await deliver(joined([answer(11), answer(12)]));
    const stale = objects.get('11')!;
    await deliver(joined([answer(13)], [answer(12)]));
    objects.set('11', stale);
    const [removed] = await deliver(joined([answer(11, { gone: true })], [answer(12)]));
    expect(removed!.map(({ voids }) => voids)).toEqual([stale['statement']]);
  });
});
