import type { FaultEffect } from '../../sandbox/serve/faults.js';
import { subjectOf } from '../plan-of.test-kit.js';
import type { Fields, Subject } from '../sink.js';
import { bodies, create, item, open, planOne, records, send, stage } from './receiver-stage.test-kit.js';

describe('a record at the receiver', () => {
  const all = {
    find: { url: '"/items?key=" & change.key', idFrom: 'body.found' },
    create: { ...create, idFrom: 'body.id' },
    update: { url: '"/items/" & record.id', body: '{ "text": item.text }' },
    delete: { url: '"/items/" & record.id' },
    forget: { url: '"/items/" & record.id', body: '{ "text": null }' },
  };
  const found: Fields = { questions: { id: 'r1', found: true, sent: 'before' } };
  const own: Fields = { questions: { id: 'r1', sent: 'before' } };
  const requestFor = async (subject: Subject, onForget?: 'delete' | 'manual', requests: object = all) => {
    const planned = await planOne(open(records(requests), onForget && { onForget }), subject);
    if (planned.kind !== 'send') return planned.kind === 'nothing' ? planned.reason : planned.cause;
    const { steps } = planned.operation as unknown as { steps: readonly { purpose: string }[] };
    return steps[0]!.purpose;
  };

  it('is looked up before it is created, and updated if it exists', async () => {
    stage.answers = [() => ({ status: 200, json: { found: 'r9' } })];
    const sink = open(records(all));
    const [first] = await send(sink, item('1'));
    expect(first).toEqual({ kind: 'unsent', object: { questions: { id: 'r9', found: true } } });
    const [second] = await send(sink, item('1', 'hello', { object: first!.object! }));
    expect(second).toMatchObject({ kind: 'delivered', object: { questions: { id: 'r9', found: true } } });
    expect(stage.api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v2/items',
      'PATCH /v2/items/r9',
    ]);
  });

  it.each<[string, Subject['removal'], Fields, 'delete' | 'manual' | undefined, string]>([
    ['its own, deleted', 'deleted', own, undefined, 'delete'],
    ['its own, forgotten', 'erased', own, undefined, 'forget'],
    ['its own, forgotten by deletion', 'consent-withdrawn', own, 'delete', 'delete'],
    ['its own, forgotten by hand', 'erased', own, 'manual', 'forget-by-hand'],
    ['not its own, deleted', 'deleted', found, undefined, 'not-ours'],
    ['not its own, forgotten', 'consent-withdrawn', found, undefined, 'forget'],
    ['not its own, forgotten by deletion', 'erased', found, 'delete', 'delete'],
  ])('has the expected removal: %s', async (_, removal, object, onForget, expected) => {
    expect(await requestFor(item('1', null, { removal, object }), onForget)).toBe(expected);
  });

  it('is left to an operator if no request can forget it', async () => {
    const erased = item('1', null, { removal: 'erased', object: found });
    expect(await requestFor(erased, undefined, { ...all, forget: undefined })).toBe('cannot-forget');
    expect(await requestFor(erased, undefined, { ...all, forget: undefined, delete: undefined })).toBe('cannot-forget');
    expect(await requestFor(item('1', null), undefined, all)).toBe('nothing-made');
  });

  it.each<[string, FaultEffect]>([
    ['the answer was lost', { kind: 'dropAfter' }],
    ['a gateway failed', { kind: 'answerAfter', answer: { status: 502, json: {} } }],
  ])('is left to an operator if %s after its creation', async (_, effect) => {
    const sink = open(records({ ...all, find: undefined }));
    stage.api.faults.add({ method: 'POST', effect });
    const [lost] = await send(sink, item('1'));
    expect(lost).toMatchObject({ kind: 'retry', object: { questions: { mayExist: true } } });
    const { object } = lost!;
    expect(await planOne(sink, item('1', null, { removal: 'erased', object: object! }))).toMatchObject({
      kind: 'unplannable',
      cause: 'cannot-forget',
    });
    stage.answers = [() => ({ status: 200, json: { id: 'r1' } })];
    const [created] = await send(sink, item('1', 'hello', { object: object! }));
    expect(created).toMatchObject({ kind: 'delivered', object: { questions: { id: 'r1' } } });
    expect(created!.object!.questions).not.toHaveProperty('mayExist');
  });

  it('is left to an operator if its id was never read', async () => {
    const sink = open(records({ ...all, find: undefined }), { onForget: 'delete' });
    const gone = (removal: Subject['removal']) =>
      planOne(sink, item('1', null, { removal, object: { questions: { sent: 'abc' } } }));
    expect(await gone('erased')).toMatchObject({ kind: 'unplannable', cause: 'cannot-forget' });
    expect(await gone('deleted')).toEqual({ kind: 'nothing', reason: 'id-not-read' });
  });

  it('is left to an operator even if another record of the item can be removed or was never created', async () => {
    const [kept, removed] = [
      { name: 'kept', create },
      { name: 'removed', ...all, forget: undefined },
    ];
    const object = { kept: { id: 1, sent: 'a' }, removed: { id: 2, sent: 'b' } };
    const erased = (made: Fields) => item('1', null, { removal: 'erased', object: made });
    for (const order of [
      [kept, removed],
      [removed, kept],
    ]) {
      const sink = open({ records: order.map((each) => ({ from: 'questions', ...each })) });
      expect(await planOne(sink, erased({ kept: object.kept }))).toMatchObject({ cause: 'cannot-forget' });
      const [outcome] = await send(sink, erased(object));
      expect(outcome).toMatchObject({ kind: 'rejected', cause: 'cannot-forget', object: { kept: object.kept } });
      expect(outcome!.object).not.toHaveProperty('removed');
    }
    expect(stage.api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(2).fill('DELETE /v2/items/2'),
    );
  });

  it('is removed if "when" becomes false, and is not sent again unchanged', async () => {
    const sink = open({ records: [{ from: 'questions', when: 'item.text != "hidden"', ...all }] });
    const [, second] = [await send(sink, item('1')), await send(sink, item('1', 'hidden', { object: own }))];
    expect(second).toMatchObject([{ kind: 'delivered', object: null }]);
    stage.answers = [() => ({ status: 404 }), () => ({ status: 200, json: { id: 7 } })];
    const [made] = await send(sink, item('2'));
    expect(made).toMatchObject({ object: { questions: { id: 7 } } });
    const again = item('2', 'hello', { object: made!.object! });
    expect((await planOne(sink, again)).kind).toBe('send'); // the update has another body than the creation
    const [updated] = await send(sink, again);
    expect(await planOne(sink, item('2', 'hello', { object: updated!.object! }))).toEqual({
      kind: 'nothing',
      reason: 'unchanged',
    });
  });

  it('is not stored for a log, which receives each change in order', async () => {
    const sink = open({ revisions: 'every', ...records({ delete: { ...create, method: 'POST', body: '"gone"' } }) });
    const revision = (n: number, text: string | null) => {
      const { change } = item('1', text);
      return subjectOf({ ...change, id: `id-${n}`, revision: n });
    };
    const outcomes = await send(sink, revision(1, 'a'), revision(2, 'b'), revision(3, null));
    expect(outcomes.map((each) => [each.kind, each.object])).toEqual(Array(3).fill(['delivered', undefined]));
    expect(bodies()).toEqual(['{"key":"1","text":"a"}', '{"key":"1","text":"b"}', '"gone"']);
  });

  it('is not deleted in a log that never received the item', async () => {
    const sink = open({ revisions: 'every', ...records({ delete: { ...create, method: 'POST', body: '"gone"' } }) });
    const gone = (neverSent: boolean) => planOne(sink, item('1', null, { removal: 'deleted', neverSent }));
    expect(await gone(true)).toEqual({ kind: 'nothing', reason: 'never-sent' });
    expect((await gone(false)).kind).toBe('send');
  });

  it.each([
    ['an id that is never read', { update: all.update }, {}, 'add it to "create"'],
    [
      'a single id for a batch',
      { ...all, find: undefined, create: { ...all.create, batch: '[items]' } },
      { batch: { size: 9 } },
      'add "results"',
    ],
  ])('is checked for %s', async (_, requests, keys, advice) => {
    const lines = await open({ ...keys, ...records(requests) }).check(new AbortController().signal);
    expect(lines.filter(({ ok }) => !ok).map(({ text }) => text)[0]).toContain(advice);
    expect((await open(records(all)).check(new AbortController().signal)).filter(({ ok }) => !ok)).toEqual([]);
  });
});
