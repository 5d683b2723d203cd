import { DEFAULT_CHANNEL } from '../../../sandbox/slack/start-slack-double.js';
import { type SlackStage, slackStage, withoutVotes } from './slack-stage.js';

const group = 'S0MODERATE';
const app = 'https://app.example.com';
const ada = {
  attendee: { id: 7, 'Full name': 'Ada Lovelace' },
  session: { id: 5001, name: 'Keynote', anonymousResponses: false },
};
const named = { attendee: { id: 7, anonymous: false } };
const layout = {
  session: 'session.name',
  author: '$field("Full name")',
  links: [{ label: 'Moderate', url: `"${app}/q/" & item.id & "?text=" & item.content` }],
  buttons: [{ label: 'Open', url: `"${app}/q/" & item.id`, when: 'item.votes > 2' }],
  mentions: [{ group, when: 'item.votes > 2' }],
};

let stage: SlackStage;
const start = async (message: Readonly<Record<string, unknown>>): Promise<void> => {
  stage = await slackStage({ message });
  stage.slack.workspace.allowed = { userGroups: [group], origins: [app] };
};
afterEach(async () => {
  await stage.close();
});
const reply = (at = 0) => stage.slack.state().channels[0]!.messages[0]!.replies[at]!;

describe('a message with session, author, votes, links, buttons and a mention', () => {
  it('has blocks that Slack accepts, and a text with the same words', async () => {
    await start(layout);
    stage.offer('1', { ...named, votes: 3 }, ada);
    await stage.settle();
    const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
    const line = (...elements: object[]) => ({
      type: 'rich_text',
      elements: [{ type: 'rich_text_section', elements }],
    });
    expect(reply().blocks).toEqual([
      line({ type: 'usergroup', usergroup_id: group }),
      { type: 'section', text: plain('question 1') },
      { type: 'context', elements: [plain('Keynote'), plain('Ada Lovelace'), plain('3 votes')] },
      line({ type: 'link', url: `${app}/q/1?text=question%201`, text: 'Moderate' }),
      {
        type: 'actions',
        elements: [{ type: 'button', action_id: 'link-0', text: plain('Open'), url: `${app}/q/1` }],
      },
    ]);
    expect(reply().text).toBe('question 1\nKeynote · Ada Lovelace · 3 votes');
  });

  it('fits into a message regardless of the texts of an audience', async () => {
    await start({
      ...layout,
      links: Array.from({ length: 5 }, () => ({ label: 'x'.repeat(75), url: `"${app}/" & $pad("", 700, "y")` })),
    });
    const name = '&'.repeat(4000);
    stage.offer(
      '1',
      { ...named, votes: 3, content: '<'.repeat(9000) },
      {
        attendee: { id: 7, 'Full name': name },
        session: { id: 5001, name, anonymousResponses: false },
      },
    );
    await stage.settle();
    expect([stage.courier.dead, Object.keys(stage.shown())]).toEqual([[], ['1']]);
    stage.offer('1', { ...named, votes: 3, content: '>'.repeat(9000) }, { ...ada });
    await stage.settle();
    expect([stage.courier.dead, reply().edits]).toEqual([[], 1]);
  });

  it.each(['<!subteam^S0EVERYONE>', '<!here>', '<@U0BOSS0001>', '<https://evil.example|click>', '@channel'])(
    'notifies nobody and links nowhere for %s, in any position',
    async (text) => {
      await start(layout);
      stage.offer(
        '1',
        { ...named, content: text, votes: 1 },
        {
          attendee: { id: 7, 'Full name': text },
          session: { id: 5001, name: text, anonymousResponses: false },
        },
      );
      await stage.settle();
      const sent = JSON.stringify(reply());
      expect(sent).not.toMatch(/usergroup|mrkdwn|"<|<!|<@|<http/);
      expect([...sent.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => new URL(url!).origin)).toEqual([app]);
    },
  );

  it('parks an item with an address on another origin, without reporting the value', async () => {
    await start({ links: [{ label: 'Open', url: `"${app}" & item.content` }] });
    stage.offer('1', { content: '.evil.example/x' });
    stage.offer('2', { content: '@evil.example/x' });
    stage.offer('3', { content: '/fine' });
    await stage.settle();
    expect(stage.courier.dead.map(({ cause }) => cause)).toEqual(
      Array.from({ length: 2 }, () => 'mapping: questions.messages[0].links[0].url: not-a-link'),
    );
    expect(JSON.stringify(stage.courier.dead)).not.toContain('evil');
    expect(Object.keys(stage.shown())).toEqual(['3']);
  });
});

describe('the author of a question', () => {
  const shown = async (item: object, around: object): Promise<string> => {
    await start(layout);
    stage.offer('1', { votes: 0, ...item }, around);
    await stage.settle();
    return reply().text;
  };

  it.each([
    ['an item that says that it is anonymous', { attendee: { anonymous: true } }, ada],
    ['an item without a person', {}, { ...ada, attendee: null }],
    [
      'an item of a session with anonymous responses',
      { attendee: undefined, attendeeId: 7 },
      { ...ada, session: { ...ada.session, anonymousResponses: true } },
    ],
    [
      'an item whose session does not say',
      { attendee: undefined, attendeeId: 7 },
      { ...ada, session: { id: 5001, name: 'Keynote' } },
    ],
    [
      'an item that is shown with another session',
      { attendee: undefined, attendeeId: 7 },
      { ...ada, session: { ...ada.session, id: 5002 } },
    ],
  ])('is left out for %s', async (_, item, around) => {
    expect(await shown(item, around)).toBe('question 1\nKeynote · 0 votes');
  });

  it('is shown below an item whose session allows it', async () => {
    expect(await shown({ attendee: undefined, attendeeId: 7 }, ada)).toBe(
      'question 1\nKeynote · Ada Lovelace · 0 votes',
    );
  });

  it('is removed when the item becomes anonymous', async () => {
    await start({ ...layout, onChange: 'ignore' });
    stage.offer('1', { ...named }, ada);
    await stage.settle();
    stage.offer('1', { attendee: { anonymous: true } }, { ...ada, attendee: null });
    await stage.settle();
    expect(JSON.stringify(stage.slack.state().channels)).not.toContain('Ada');
  });
});

describe('a broadcast reply', () => {
  const inChannel = (): string[] =>
    stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!.shown.map(({ text }) => withoutVotes(text));

  it('appears in the channel as well, from its first message or from the edit that meets the condition', async () => {
    await start({ broadcast: 'item.votes >= 10' });
    stage.offer('1', { votes: 12 });
    stage.offer('2', { votes: 3 });
    await stage.settle();
    expect(inChannel()).toEqual(['Keynote', 'question 1']);
    stage.offer('2', { votes: 10 });
    await stage.settle();
    expect(inChannel()).toEqual(['Keynote', 'question 1', 'question 2']);
    stage.offer('1', { votes: 2 });
    stage.offer('2', { votes: 11 });
    await stage.settle();
    expect([inChannel(), stage.courier.dead]).toEqual([['Keynote', 'question 1', 'question 2'], []]);
    expect(stage.courier.object('qna-questions', '1')).toMatchObject({ broadcast: true });
  });

  it('is edited first if its text changes at the same time', async () => {
    await start({ broadcast: '$contains(item.content, "urgent")' });
    stage.offer('1', { content: 'not yet' });
    await stage.settle();
    stage.offer('1', { content: 'urgent' });
    await stage.settle();
    expect([inChannel(), stage.courier.dead, stage.requestsTo('chat.update')]).toEqual([['Keynote', 'urgent'], [], 2]);
    expect(stage.courier.object('qna-questions', '1')).toMatchObject({ broadcast: true });
  });

  it('keeps its new text, and appears in the channel, after the answer to the second call was lost', async () => {
    await start({ broadcast: '$contains(item.content, "urgent")' });
    stage.offer('1', { content: 'not yet' });
    await stage.settle();
    stage.fault('dropAfter', 'chat.update', { skip: 1 });
    stage.offer('1', { content: 'urgent' });
    await stage.settle();
    expect([inChannel(), stage.courier.dead]).toEqual([['Keynote', 'urgent'], []]);
    expect(stage.courier.object('qna-questions', '1')).toMatchObject({ broadcast: true });
  });

  it('is not tried again if Slack cannot broadcast it, and keeps its new text', async () => {
    await start({ broadcast: '$contains(item.content, "urgent")' });
    stage.offer('1', { content: 'not yet' });
    await stage.settle();
    stage.fault('cant_broadcast_message', 'chat.update', { skip: 1 });
    stage.offer('1', { content: 'urgent' });
    await stage.settle();
    stage.offer('1', { content: 'urgent!' });
    await stage.settle();
    expect([reply().text, stage.courier.dead, stage.requestsTo('chat.update')]).toEqual(['urgent!\n0 votes', [], 3]);
  });

  it('is deleted and posted again if Slack regards the second call as a change of its content', async () => {
    await start({ broadcast: '$contains(item.content, "urgent")' });
    stage.offer('1', { content: 'not yet' });
    await stage.settle();
    stage.fault('no_dual_broadcast_content_update', 'chat.update', { skip: 1 });
    stage.offer('1', { content: 'urgent' });
    await stage.settle();
    expect([inChannel(), stage.courier.dead, stage.shown()]).toEqual([['Keynote', 'urgent'], [], { 1: ['urgent'] }]);
  });

  it('is an ordinary message if it is not a reply', async () => {
    await start({ broadcast: 'true', threadBy: 'item.nothing' });
    stage.offer('1', {});
    await stage.settle();
    expect(inChannel()).toEqual(['question 1']);
  });
});

describe('a message with a link, whose rich text an edit cannot replace', () => {
  it('is deleted if it is withdrawn', async () => {
    await start({ links: layout.links });
    stage.offer('1', {});
    await stage.settle();
    stage.offer('1', null);
    await stage.settle();
    expect([stage.shown(), stage.courier.dead]).toEqual([{}, []]);
    expect(stage.courier.object('qna-questions', '1')).toBeNull();
  });

  it('keeps its old number of votes if Slack refuses to edit it', async () => {
    await start({ links: layout.links });
    stage.offer('1', { votes: 1 });
    await stage.settle();
    const before = stage.courier.object('qna-questions', '1')!;
    await stage.clock.pass(60_000);
    stage.fault('block_mismatch', 'chat.update');
    stage.offer('1', { votes: 2 });
    await stage.settle();
    expect([stage.requestsTo('chat.delete'), stage.courier.dead]).toEqual([0, []]);
    expect(stage.courier.object('qna-questions', '1')).toEqual(before);
    stage.offer('1', { votes: 2, content: 'edited' });
    await stage.settle();
    expect([stage.shown(), stage.courier.object('qna-questions', '1')]).toMatchObject([
      { 1: ['edited'] },
      { ts: before['ts'], votes: 2 },
    ]);
  });

  it('is posted again if it loses its link', async () => {
    await start({ links: [{ ...layout.links[0], when: 'item.votes > 2' }] });
    stage.offer('1', { votes: 3 });
    await stage.settle();
    stage.offer('1', { votes: 3, content: 'edited' });
    await stage.settle();
    expect(stage.requestsTo('chat.delete')).toBe(0);
    stage.offer('1', { votes: 1, content: 'edited' });
    await stage.settle();
    expect([stage.shown(), stage.courier.dead, reply().blocks]).toEqual([
      { 1: ['edited'] },
      [],
      expect.not.arrayContaining([expect.objectContaining({ type: 'rich_text' })]),
    ]);
  });
});

describe('a workspace that already holds messages', () => {
  it('keeps them, and the app adds its own', async () => {
    await start(layout);
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    const before = [null, 'B0ANOTHER1', stage.slack.workspace.botId].map((bot, n) =>
      stage.slack.workspace.post(channel, { bot, text: `before ${n}`, threadTs: undefined as never }),
    );
    stage.offer('1', { votes: 0 });
    await stage.settle();
    stage.offer('1', null);
    await stage.settle();
    expect(before.map(({ ts }) => channel.find(ts)!.text)).toEqual(['before 0', 'before 1', 'before 2']);
    expect(stage.shown()).toEqual({}); // it had a link, so it was deleted
  });
});
