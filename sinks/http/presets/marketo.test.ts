import { failure, type MarketoDouble, startMarketoDouble } from '../../../sandbox/marketo/start-marketo-double.js';
import { attendee, GuideSink, kinds } from '../guide.test-kit.js';

let marketo: MarketoDouble;
let stage: GuideSink;

const openStage = (secret = 'marketo-secret', block = 0, url = marketo.url) =>
  GuideSink.open({
    page: 'marketo',
    block,
    replace: { 'https://123-abc-456.mktorest.com': url },
    variables: { MARKETO_SECRET: secret },
  });

beforeEach(async () => {
  marketo = await startMarketoDouble();
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
  await marketo.close();
});

const ann = { id: 4711, Name: 'Ann Ray', Email: 'ann@example.com' };
const bob = { id: 4712, Name: 'Bob Customer', Email: 'bob@example.com' };
const twice = { id: 4713, Name: 'Two Two', Email: 'twice@example.com' };
const writes = () => marketo.requests.filter(({ path }) => path === '/rest/v1/leads.json');

describe('docs/sinks/http/marketo.md', () => {
  it('creates and updates leads in one request, and rejects the lead that Marketo refuses', async () => {
    const outcomes = await stage.deliver([attendee('4711', ann), attendee('4713', twice), attendee('4712', bob)]);
    expect(outcomes).toMatchObject([
      { kind: 'delivered' },
      { kind: 'rejected', cause: 'marketo:1007' },
      { kind: 'delivered' },
    ]);
    expect(writes()).toHaveLength(1);
    expect(marketo.leads[0]).toMatchObject({ lastName: 'Customer', lastEvent: 'Summit' });
    expect(marketo.leads.slice(1)).toEqual([
      { id: 2, email: 'twice@example.com' },
      { id: 3, email: 'twice@example.com' },
      { id: 4, email: 'ann@example.com', lastEvent: 'Summit' },
    ]);
  });

  it('cleans an address, and withholds a lead whose address is none', async () => {
    const pasted = { ...ann, Email: '\u200bmailto:ann@example.com\u00a0' };
    expect(await stage.deliver([attendee('4711', pasted), attendee('4712', { ...bob, Email: 'n/a' })])).toMatchObject([
      { kind: 'delivered' },
      { kind: 'nothing', reason: 'no-value' },
    ]);
    expect(marketo.leads.at(-1)).toMatchObject({ email: 'ann@example.com' });
  });

  it('creates a lead only once if the response was lost', async () => {
    marketo.faults.add({ effect: { kind: 'dropAfter' }, path: '/rest/v1/leads.json' });
    expect(kinds(await stage.deliver([attendee('4711', ann)]))).toEqual(['retry']);
    expect(kinds(await stage.deliver([attendee('4711', ann)]))).toEqual(['delivered']);
    expect(marketo.leads).toHaveLength(4);
  });

  it('waits 20 s after the calls of all integrations have reached the limit of the subscription', async () => {
    const nowMs = Date.now(); // stopped, so that the 20 s do not end between the two requests
    const busy = await startMarketoDouble({ per20s: 1, now: () => nowMs });
    const sink = await openStage('marketo-secret', 0, busy.url);
    expect(kinds(await sink.deliver([attendee('4711', ann)]))).toEqual(['delivered']);
    expect(await sink.deliver([attendee('4712', bob)])).toMatchObject([{ kind: 'retry', afterMs: 20_000 }]);
    await sink.close();
    await busy.close();
  });

  it.each([
    ['606', { kind: 'retry', afterMs: 20_000 }],
    ['607', { kind: 'retry', afterMs: 3_600_000 }],
    ['602', { kind: 'retry' }],
    ['603', { kind: 'pause' }],
  ])('recognizes code %s in a response with HTTP 200', async (code, outcome) => {
    marketo.faults.add({ effect: { kind: 'answer', answer: failure(code) }, path: '/rest/v1/leads.json', times: 9 });
    expect(await stage.deliver([attendee('4711', ann)])).toMatchObject([outcome]);
    expect(marketo.leads).toHaveLength(3);
  });

  it('deletes no lead, and leaves an erasure to an operator', async () => {
    await stage.deliver([attendee('4711', ann)]);
    expect(await stage.deliver([attendee('4711', null, { revision: 2 })])).toMatchObject([
      { kind: 'nothing', reason: 'no-delete-request' },
    ]);
    expect(await stage.deliver([attendee('4711', null, { revision: 3, removal: 'erased' })])).toMatchObject([
      { kind: 'unplannable', cause: 'cannot-forget' },
    ]);
    expect(marketo.leads).toHaveLength(4);
  });

  it('clears its own fields of a lead with the request in the guide', async () => {
    const clearing = await openStage('marketo-secret', 1);
    await clearing.deliver([attendee('4712', bob)]);
    expect(marketo.leads[0]).toMatchObject({ lastEvent: 'Summit' });
    const outcomes = await clearing.deliver([attendee('4712', null, { revision: 2, removal: 'erased' })]);
    await clearing.close();
    expect(kinds(outcomes)).toEqual(['delivered']);
    expect(marketo.leads[0]).toEqual({
      id: 1,
      email: 'bob@example.com',
      firstName: 'Bob',
      lastName: 'Customer',
      lastEvent: null,
    });
  });

  it('passes its check, and pauses with a wrong secret without showing it', async () => {
    expect((await stage.check()).filter(({ ok }) => !ok)).toEqual([]);
    const wrong = await openStage('another-secret');
    const said = JSON.stringify([await wrong.deliver([attendee('4711', ann)]), await wrong.check()]);
    await wrong.close();
    expect(said).toContain('"pause"');
    expect(said).not.toContain('another-secret');
  });
});
