import { MANIFEST_SCOPES } from '../../sandbox/slack/slack-workspace.js';
import { startSlackDouble, type SlackDouble, type SlackDoubleOptions } from '../../sandbox/slack/start-slack-double.js';
import type { Choices } from '../connect.js';
import { environmentOf } from '../sink-environment.test-kit.js';
import { sampleConfig } from './sample-sink.test-kit.js';
import { createSlackSink } from './slack.js';

let double: SlackDouble;
afterEach(() => double.close());

async function channelsOf(options: SlackDoubleOptions): Promise<Choices> {
  double = await startSlackDouble(options);
  const old = [...double.workspace.channels.values()].find(({ name }) => name === 'old');
  if (old !== undefined) old.isArchived = true;
  const sink = createSlackSink(sampleConfig({ baseUrl: `${double.url}/api` }), environmentOf('slack'));
  try {
    return await sink.choices!('channel', new AbortController().signal);
  } finally {
    await sink.close();
  }
}

const channels = [
  { id: 'C0000000001', name: 'zebra', isMember: true },
  { id: 'C0000000002', name: 'alpha', isMember: false },
  { id: 'C0000000003', name: 'old', isMember: true },
  { id: 'G0000000004', name: 'secret', isPrivate: true, isMember: true },
];

describe('the channels that Slack offers', () => {
  it('are those that the app sees, the joined ones first, without archived ones', async () => {
    expect(await channelsOf({ profile: 'established', channels })).toEqual({
      kind: 'offered',
      items: [
        { value: 'G0000000004', label: '#secret', note: 'private' },
        { value: 'C0000000001', label: '#zebra' },
        { value: 'C0000000002', label: '#alpha', note: 'invite the app first' },
      ],
      more: false,
    });
  });

  it('are the public ones if the token has no scope for private ones', async () => {
    const tokens = [{ token: 'xoxb-double', scopes: [...MANIFEST_SCOPES, 'channels:read'] }];
    const found = await channelsOf({ profile: 'established', channels, tokens });
    expect(found).toMatchObject({ kind: 'offered', items: [{ label: '#zebra' }, { label: '#alpha' }] });
  });

  it('are read page by page', async () => {
    const many = Array.from({ length: 450 }, (_, n) => ({ id: `C00000${10_000 + n}`, name: `c${n}`, isMember: true }));
    const found = await channelsOf({ profile: 'established', channels: many });
    expect(found).toMatchObject({ kind: 'offered', more: false });
    expect(found.kind === 'offered' && found.items).toHaveLength(450);
  });

  it('are refused with the scope that is missing', async () => {
    expect(await channelsOf({ channels })).toEqual({
      kind: 'refused',
      detail: expect.stringMatching(/missing_scope.*channels:read/),
    });
  });
});
