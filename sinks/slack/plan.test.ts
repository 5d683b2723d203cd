import { subjectOf } from '../plan-of.test-kit.js';
import type { Planned, Subject } from '../sink.js';
import type { SlackConfig } from './config.js';
import type { SlackOperation } from './operation.js';
import { planSubject } from './plan.js';
import { keynote, questionChange, sampleConfig } from './sample-sink.test-kit.js';

async function planned(
  item: Parameters<typeof questionChange>[0],
  around: Partial<Subject> = {},
  config: SlackConfig = sampleConfig(),
): Promise<Planned<SlackOperation>> {
  return await planSubject(config, 'questions', subjectOf(questionChange(item), { session: keynote, ...around }));
}

/** Returns the state of the message after the plan for this item was carried out. */
async function afterPlan(
  item: Parameters<typeof questionChange>[0] = {},
  around: Partial<Subject> = {},
  config: SlackConfig = sampleConfig(),
) {
  const plan = await planned(item, around, config);
  if (plan.kind !== 'send' || plan.operation.kind === 'redact') throw new Error('nothing is shown');
  const { to, shown } = plan.operation;
  return {
    state: 'shown',
    channel: to.channel,
    ts: '1.000001',
    threadTs: to.thread && '1.000000',
    threadKey: to.thread?.key ?? null,
    ...shown,
  };
}

/** The plan in a word: what is called, or why nothing is. */
function planKind(plan: Planned<SlackOperation>): string {
  if (plan.kind === 'send') return plan.operation.kind;
  return plan.kind === 'nothing' ? `nothing: ${plan.reason}` : plan.cause;
}

describe('the plan for an item that Slack does not show', () => {
  it.each([
    ['whose condition holds', {}, 'post'],
    ['whose condition does not hold', { status: 'waiting' }, 'nothing: condition'],
    ['without a text', { content: ' ' }, 'nothing: no-text'],
    ['with something else for a text', { content: { a: 1 } }, 'mapping: questions.messages[0].text: not-a-text'],
    ['with something else for a count', { votes: 'many' }, 'mapping: questions.messages[0].votes: not-a-number'],
    ['that is deleted', null, 'nothing: deleted'],
  ])('%s', async (_, item, word) => {
    expect(planKind(await planned(item))).toBe(word);
  });

  it('shows only plain text, in a thread named after the session, with ids as metadata', async () => {
    const plan = await planned({ content: '<!channel> *now*' });
    expect(plan).toMatchObject({
      operation: {
        to: { channel: 'C0123456789', thread: { content: { text: 'Keynote' } } },
        content: {
          text: '&lt;!channel&gt; *now*',
          blocks: [
            { type: 'section', text: { type: 'plain_text', text: '&lt;!channel&gt; *now*' } },
            { type: 'context', elements: [{ type: 'plain_text', text: '3 votes' }] },
          ],
        },
        metadata: { event_payload: { pigeonhole: 101, list: 'qna-questions', key: '9001' } },
      },
    });
  });

  it('is one more post while the outcome of a first one is unknown, so that the sink looks for it', async () => {
    expect(planKind(await planned({}, { object: { state: 'unknown' } }))).toBe('post');
    expect(planKind(await planned({ status: 'no' }, { object: { state: 'unknown' } }))).toBe('redact');
  });
});

describe('the plan for an item that Slack shows', () => {
  it.each([
    ['as it is', {}, 'nothing: unchanged'],
    ['and whose text changed', { content: 'When is dinner?' }, 'edit'],
    ['and whose count changed', { votes: 4 }, 'edit'],
    ['and which changed where nothing is shown', { createdAt: '2026-11-21T09:30:00Z' }, 'nothing: unchanged'],
    ['and whose condition no longer holds', { status: 'hidden' }, 'redact'],
    ['and whose text is gone', { content: '' }, 'redact'],
    ['and which is deleted', null, 'redact'],
  ])('%s', async (_, item, word) => {
    expect(planKind(await planned(item, { object: await afterPlan() }))).toBe(word);
  });

  it('distinguishes an edit of only the count from one of the text', async () => {
    const object = await afterPlan();
    expect(await planned({ votes: 4 }, { object })).toMatchObject({ operation: { votesOnly: true } });
    expect(await planned({ votes: 4, content: 'x' }, { object })).toMatchObject({ operation: { votesOnly: false } });
  });

  it.each([
    ['ignores what changes', { content: 'When is dinner?' }, { onChange: 'ignore' }, 'nothing: ignored'],
    ['withdraws all the same', { status: 'hidden' }, { onChange: 'ignore' }, 'redact'],
    ['keeps what is withdrawn', { status: 'hidden' }, { onWithdrawn: 'keep' }, 'nothing: kept'],
    ['keeps what is deleted', null, { onWithdrawn: 'keep' }, 'nothing: kept'],
  ])('%s if the configuration says so', async (_, item, message, word) => {
    const config = sampleConfig({}, message);
    expect(planKind(await planned(item, { object: await afterPlan({}, {}, config) }, config))).toBe(word);
  });

  it('moves to another thread and to another channel', async () => {
    const routes = [{ when: 'item.votes > 100', channel: 'C0TOKYO0001' }];
    const config = sampleConfig({ routes });
    const object = await afterPlan({}, {}, config);
    expect(planKind(await planned({}, { object, session: { id: 5002, name: 'Panel' } }, config))).toBe('move');
    expect(await planned({ votes: 101 }, { object }, config)).toMatchObject({
      operation: { kind: 'move', to: { channel: 'C0TOKYO0001' }, existing: { channel: 'C0123456789' } },
    });
  });

  it('is edited by a replay though nothing changed', async () => {
    const change = questionChange({}, { replay: 'r-1' });
    const subject = subjectOf(change, { session: keynote, object: await afterPlan() });
    expect(planKind(await planSubject(sampleConfig(), 'questions', subject))).toBe('edit');
  });

  it('is shown again when its condition holds again', async () => {
    const object = { ...(await afterPlan()), state: 'redacted', hash: null, votes: null };
    expect(planKind(await planned({}, { object }))).toBe('edit');
    expect(planKind(await planned({ status: 'hidden' }, { object }))).toBe('nothing: condition');
  });

  it('stays if Slack has locked it, until it must be removed', async () => {
    const object = { ...(await afterPlan()), state: 'fixed' };
    expect(planKind(await planned({ content: 'x' }, { object }))).toBe('nothing: not-editable');
    expect(planKind(await planned(null, { object }))).toBe('redact');
  });

  it('was posted through a webhook, which edits nothing', async () => {
    expect(planKind(await planned({ content: 'x' }, { object: { state: 'blind' } }))).toBe('nothing: not-editable');
    expect(planKind(await planned(null, { object: { state: 'blind' } }))).toBe('nothing: not-editable');
  });
});

describe('the plan for an item whose person may not be shown any more', () => {
  const ada = { id: 7, Name: 'Ada Lovelace' };
  const named = { attendee: { id: 7, anonymous: false } };

  it.each([
    ['is edited', 'attendee.Name & ": " & item.content', {}, 'edit'],
    ['is edited though changes are ignored', 'attendee.Name & item.content', { onChange: 'ignore' }, 'edit'],
    ['is redacted where nothing is left', 'attendee.Name', { onWithdrawn: 'keep' }, 'redact'],
    ['is redacted where the mapping fails without the person', '$sum(attendee.Name ? 1 : "x")', {}, 'redact'],
    ['stays where the person was not shown', 'item.content', {}, 'nothing: unchanged'],
  ])('%s', async (_, text, message, word) => {
    const config = sampleConfig({}, { ...message, text });
    const object = await afterPlan(named, { attendee: ada }, config);
    expect(object.named).toBe(true);
    expect(planKind(await planned({}, { object }, config))).toBe(word);
  });

  it('is redacted when consent is withdrawn, whatever is kept otherwise', async () => {
    const config = sampleConfig({}, { onWithdrawn: 'keep' });
    const object = await afterPlan({}, {}, config);
    expect(planKind(await planned(null, { object, removal: 'consent-withdrawn' }, config))).toBe('redact');
  });
});
