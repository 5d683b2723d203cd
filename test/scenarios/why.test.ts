import { explain } from '../../api/why.js';
import { timeline } from '../../cli/commands/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { previewSink } from '../../operations/preview-sink.js';
import { attendee, pollVote, qnaQuestion, question, session } from '../kit/items.js';
import { useStages } from '../kit/stage.js';

const stages = useStages();
const obtainedAlone = 'consent: { accept: [obtained] }';
const asked = { list: null, pigeonhole: null, key: null, limit: 20, configuration: {}, changedFrom: null };

describe.each(kinds)('the explanation of an item, on %s', (kind) => {
  it('shows where it was read and the sink’s answer to each revision, without content', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2));
    const scene = await stage.webhookScene(obtainedAlone);
    await stage.planAnswer({ status: 422, list: 'attendees', key: '2', count: 1 });
    await scene.settle();
    await stage.patch('attendees', 1, { consent: { obtained: false }, Name: 'Another' });
    await stage.pollsAreDue();
    await scene.settle();

    const [known, ...others] = await explain(scene.ledger, { list: 'attendees', key: '1', pigeonhole: null });
    expect(others).toEqual([]);
    expect(known).toMatchObject({
      workspace: 'acme',
      pigeonholeId: 101,
      revision: 2,
      deleted: false,
      consent: 'refused',
      revisions: [
        { revision: 1, kind: 'created', sinks: [{ sink: 'hooks', state: 'delivered', identity: true }] },
        { revision: 2, kind: 'updated', sinks: [{ sink: 'hooks', state: 'withheld', reason: 'consent-refused' }] },
      ],
    });
    expect(known!.revisions[0]).toMatchObject({
      readAs: expect.stringMatching(/^(poll|sweep), page 1$/),
      requestId: expect.stringMatching(/^[0-9a-f-]+$/),
    });
    const told = timeline(known!).join('\n');
    expect(told).toContain('hooks: withheld');
    expect(told).not.toMatch(/Person|Another|example\.com|code-/);

    const [parked] = await explain(scene.ledger, { list: 'attendees', key: '2', pigeonhole: '101' });
    expect(parked!.revisions[0]!.sinks).toMatchObject([{ state: 'dead', reason: 'http:422', attempts: 1 }]);
    expect(await explain(scene.ledger, { list: 'attendees', key: '3', pigeonhole: null })).toEqual([]);
    expect(await explain(scene.ledger, { list: 'attendees', key: '1', pigeonhole: 'acme/102' })).toEqual([]);
  });
});

describe.each(kinds)('the explanation of a question, on %s', (kind) => {
  it('says that a sink does not receive the list, and names the same question in the list that it received', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    await stage.put('qna-questions', qnaQuestion(9001, { id: 1, anonymous: false }, 1));
    await stage.put('questions', question(9001, 1, 1));
    const { url } = await stage.receiver();
    const all = `{ type: webhook, url: "${url}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true, lists: [questions] }`;
    const scene = await stage.webhookScene('lists: [qna-questions]', { sinks: { other: all } });
    await scene.settle();

    const [known] = await explain(scene.ledger, { list: 'questions', key: '9001', pigeonhole: null });
    expect(known!.twin).toEqual({ list: 'qna-questions', sinks: ['hooks'] });
    expect(known!.revisions[0]!.sinks).toMatchObject([
      { sink: 'other', state: 'delivered' },
      { sink: 'hooks', state: 'unwanted', outcome: 'not sent: this sink does not receive the list' },
    ]);
    const lines = timeline(known!).join('\n');
    expect(lines).toContain('the same question is qna-questions:9001, which hooks received');
    expect(lines).not.toMatch(/not processed yet|at that time/);
    const [twin] = await explain(scene.ledger, { list: 'qna-questions', key: '9001', pigeonhole: null });
    expect(twin!.twin).toEqual({ list: 'questions', sinks: ['other'] });
  });
});

describe.each(kinds)('a preview, on %s', (kind) => {
  it('shows what the sink would receive, counts what it would not, and sends nothing', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1), attendee(2, { consent: { obtained: false } }));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 2, anonymous: false }, 1));
    const scene = await stage.webhookScene(obtainedAlone);
    await stage.planAnswer({ status: 503, count: 1000 });
    await scene.settle();
    const received = stage.received().length;

    const environment = { SCENE_KEY: 'sandbox-key', HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
    const shown = await previewSink(scene.deps, { ...asked, sink: 'hooks' }, environment);
    if ('unknown' in shown) throw new Error(shown.unknown);
    const of = (list: string, key: string) =>
      shown.items.find((item) => item.list === list && item.key === key && item.pigeonholeId === 101)!.now;
    expect(of('attendees', '1')).toMatchObject({ kind: 'send', calls: [{ method: 'POST' }] });
    expect(JSON.stringify(of('attendees', '1'))).toContain('Person 1');
    expect(of('attendees', '2')).toEqual({ kind: 'withhold', reason: 'consent-refused' });
    expect(JSON.stringify(of('poll-mcq-votes', '51'))).toContain('anonymous');
    expect(shown.counts).toContainEqual({
      list: 'attendees',
      items: 1,
      withheld: { 'consent-refused': 1 },
      failed: 0,
      estimated: false,
    });
    expect(stage.received()).toHaveLength(received);

    const one = await previewSink(scene.deps, { ...asked, sink: 'hooks', list: 'attendees', limit: 1 }, environment);
    expect(one).toMatchObject({ items: [{ list: 'attendees' }], more: true });
    expect(await previewSink(scene.deps, { ...asked, sink: 'crm' }, environment)).toEqual({
      unknown: 'no sink crm is configured',
    });
  });
});
