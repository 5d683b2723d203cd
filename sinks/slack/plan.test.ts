import { planEach } from '../mapping/mapping-error.js';
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
  const subject = subjectOf(questionChange(item), { session: keynote, ...around });
  const [plan] = await planEach([subject], (each) => planSubject(config, 'questions', each));
  return plan!;
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

/** Returns the request of a plan, or the reason why there is none. */
function planKind(plan: Planned<SlackOperation>): string {
  if (plan.kind === 'send') return plan.operation.kind;
  return plan.kind === 'nothing' ? `nothing: ${plan.reason}` : plan.cause;
}

describe('the plan for an item without a message in Slack', () => {
  it.each([
    ['posts it if its condition is true', {}, 'post'],
    ['does nothing if its condition is false', { status: 'waiting' }, 'nothing: condition'],
    ['does nothing if it has no text', { content: ' ' }, 'nothing: no-text'],
    ['does nothing if its text is only control characters', { content: '\u0000\u0007\u001b' }, 'nothing: no-text'],
    ['does nothing if nobody can see its text', { content: '\u200b\u00ad\u2060\u3164' }, 'nothing: no-text'],
    ['fails if its text is not a text', { content: { a: 1 } }, 'mapping: questions.messages[0].text: not-a-text'],
    ['fails if its count is not a number', { votes: 'many' }, 'mapping: questions.messages[0].votes: not-a-number'],
    ['does nothing if it is deleted', null, 'nothing: deleted'],
  ])('%s', async (_, item, word) => {
    expect(planKind(await planned(item))).toBe(word);
  });

  it('contains only plain text, in a thread named after the session, with ids as metadata', async () => {
    const plan = await planned({ content: '<!channel> *now*' });
    expect(plan).toMatchObject({
      operation: {
        to: { channel: 'C0123456789', thread: { content: { text: 'Keynote' } } },
        content: {
          text: '&lt;!channel&gt; *now*\n3 votes',
          blocks: [
            { type: 'section', text: { type: 'plain_text', text: '&lt;!channel&gt; *now*' } },
            { type: 'context', elements: [{ type: 'plain_text', text: '3 votes' }] },
          ],
        },
        metadata: { event_payload: { pigeonhole: 101, list: 'qna-questions', key: '9001' } },
      },
    });
  });

  it('posts it again while the outcome of the first post is unknown, so that the sink looks the message up', async () => {
    expect(planKind(await planned({}, { object: { state: 'unknown' } }))).toBe('post');
    expect(planKind(await planned({ status: 'no' }, { object: { state: 'unknown' } }))).toBe('redact');
  });
});

describe('the plan for an item with a message in Slack', () => {
  it.each([
    ['does nothing if nothing changed', {}, 'nothing: unchanged'],
    ['edits it if its text changed', { content: 'When is dinner?' }, 'edit'],
    ['edits it if its count changed', { votes: 4 }, 'edit'],
    [
      'does nothing if only fields that are not displayed changed',
      { createdAt: '2026-11-21T09:30:00Z' },
      'nothing: unchanged',
    ],
    ['redacts it if its condition is now false', { status: 'hidden' }, 'redact'],
    ['redacts it if its text is now empty', { content: '' }, 'redact'],
    ['redacts it if it is deleted', null, 'redact'],
  ])('%s', async (_, item, word) => {
    expect(planKind(await planned(item, { object: await afterPlan() }))).toBe(word);
  });

  it('distinguishes an edit of only the count from an edit of the text', async () => {
    const object = await afterPlan();
    expect(await planned({ votes: 4 }, { object })).toMatchObject({ operation: { votesOnly: true } });
    expect(await planned({ votes: 4, content: 'x' }, { object })).toMatchObject({ operation: { votesOnly: false } });
  });

  it.each([
    ['ignores a change', { content: 'When is dinner?' }, { onChange: 'ignore' }, 'nothing: ignored'],
    ['redacts a withdrawn item even if changes are ignored', { status: 'hidden' }, { onChange: 'ignore' }, 'redact'],
    ['keeps the message of a withdrawn item', { status: 'hidden' }, { onWithdrawn: 'keep' }, 'nothing: kept'],
    ['keeps the message of a deleted item', null, { onWithdrawn: 'keep' }, 'nothing: kept'],
  ])('%s if the configuration says so', async (_, item, message, word) => {
    const config = sampleConfig({}, message);
    expect(planKind(await planned(item, { object: await afterPlan({}, {}, config) }, config))).toBe(word);
  });

  it('moves it to another thread or to another channel', async () => {
    const routes = [{ when: 'item.votes > 100', channel: 'C0TOKYO0001' }];
    const config = sampleConfig({ routes });
    const object = await afterPlan({}, {}, config);
    expect(planKind(await planned({}, { object, session: { id: 5002, name: 'Panel' } }, config))).toBe('move');
    expect(await planned({ votes: 101 }, { object }, config)).toMatchObject({
      operation: { kind: 'move', to: { channel: 'C0TOKYO0001' }, existing: { channel: 'C0123456789' } },
    });
  });

  it('edits it in a replay although nothing changed', async () => {
    const change = questionChange({}, { replay: 'r-1' });
    const subject = subjectOf(change, { session: keynote, object: await afterPlan() });
    expect(planKind(await planSubject(sampleConfig(), 'questions', subject))).toBe('edit');
  });

  it('displays it again if its condition is true again', async () => {
    const object = { ...(await afterPlan()), state: 'redacted', hash: null, votes: null };
    expect(planKind(await planned({}, { object }))).toBe('edit');
    expect(planKind(await planned({ status: 'hidden' }, { object }))).toBe('nothing: condition');
  });

  it('leaves a message that Slack has locked, until it must be removed', async () => {
    const object = { ...(await afterPlan()), state: 'fixed' };
    expect(planKind(await planned({ content: 'x' }, { object }))).toBe('nothing: not-editable');
    expect(planKind(await planned(null, { object }))).toBe('redact');
  });

  it('does not edit a message that was posted through a webhook', async () => {
    expect(planKind(await planned({ content: 'x' }, { object: { state: 'blind' } }))).toBe('nothing: not-editable');
    expect(planKind(await planned(null, { object: { state: 'blind' } }))).toBe('nothing: not-editable');
  });
});

describe('the plan for a message whose person is no longer visible', () => {
  const ada = { id: 7, Name: 'Ada Lovelace' };
  const named = { attendee: { id: 7, anonymous: false } };

  it.each([
    ['edits it', 'attendee.Name & ": " & item.content', {}, 'edit'],
    ['edits it even if changes are ignored', 'attendee.Name & item.content', { onChange: 'ignore' }, 'edit'],
    ['redacts it if no text is left', 'attendee.Name', { onWithdrawn: 'keep' }, 'redact'],
    ['redacts it if the mapping fails without the person', '$sum(attendee.Name ? 1 : "x")', {}, 'redact'],
    ['does nothing if the message did not show the person', 'item.content', {}, 'nothing: unchanged'],
  ])('%s', async (_, text, message, word) => {
    const config = sampleConfig({}, { ...message, text });
    const object = await afterPlan(named, { attendee: ada }, config);
    expect(object.named).toBe(true);
    expect(planKind(await planned({}, { object }, config))).toBe(word);
  });

  it('redacts it if consent is withdrawn, even if withdrawn items keep their messages', async () => {
    const config = sampleConfig({}, { onWithdrawn: 'keep' });
    const object = await afterPlan({}, {}, config);
    expect(planKind(await planned(null, { object, removal: 'consent-withdrawn' }, config))).toBe('redact');
  });
});
