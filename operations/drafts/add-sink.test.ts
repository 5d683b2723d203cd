import { parse } from 'yaml';
import { addSink, namesIn } from './add-sink.js';

const slack = { name: 'questions-channel', comment: 'messages', lines: ['type: slack', 'channel: "C1"'] };

const flow = `# at the top
workspaces:
  acme: { baseUrl: "https://a.example.com", apiKey: "\${KEY}" }
syncs:
  events:
    workspace: acme
    sinks: [archive] # where to
  others:
    workspace: acme
    sinks: [archive]

sinks:
  archive: # lines
    type: file
    folder: ./archive # here
    # consent: { accept: [obtained] }

# The ledger
store: embedded:./data
`;

const block = `syncs:
    events:
        workspace: acme
        sinks:
            - archive # the files
            - "hooks"
sinks:
    archive:
        type: file
        folder: ./a
    hooks: { type: webhook, url: "https://h.example.com" }`;

describe('a sink added to an existing file', () => {
  it('is inserted after the last sink and its comments, and into its sync', () => {
    const added = addSink(flow, 'events', slack)!;
    expect(added).toBe(
      flow
        .replace('[archive] # where to', '[archive, questions-channel] # where to')
        .replace(
          '[obtained] }\n',
          '[obtained] }\n  questions-channel: # messages\n    type: slack\n    channel: "C1"\n',
        ),
    );
  });

  it('is inserted with the indentation of the file, also at its very end', () => {
    const added = addSink(block, 'events', slack)!;
    expect(added).toContain('            - "hooks"\n            - questions-channel\nsinks:');
    expect(added.endsWith('\n    questions-channel: # messages\n      type: slack\n      channel: "C1"')).toBe(true);
  });

  it.each([flow, block, flow.replaceAll('\n', '\r\n'), `${block}\n`])('changes nothing else', (text) => {
    const expected = parse(text) as { syncs: { events: { sinks: string[] } }; sinks: Record<string, unknown> };
    expected.syncs.events.sinks.push('questions-channel');
    expected.sinks['questions-channel'] = { type: 'slack', channel: 'C1' };
    expect(parse(addSink(text, 'events', slack)!)).toEqual(expected);
  });

  it.each([
    ['no sink', 'syncs: { events: { sinks: [] } }\nsinks: {}\n'],
    ['sinks on one line', 'syncs:\n  events:\n    sinks: [a]\nsinks: { a: { type: file } }\n'],
    ['another sync only', flow.replace('events:', 'talks:')],
    ['a syntax error', `${flow}\n  : :\n- x`],
    ['an alias in place of the names', 'syncs:\n  events:\n    sinks: *x\nsinks:\n  a:\n    type: file\n'],
  ])('is refused for a file with %s', (_, text) => {
    expect(addSink(text, 'events', slack)).toBeNull();
  });
});

describe('the names in a file', () => {
  it('are those of its syncs and sinks', () => {
    expect(namesIn(flow)).toEqual({ syncs: ['events', 'others'], sinks: ['archive'] });
    expect(namesIn('sinks:\n  a: {}\n')).toBeNull();
    expect(namesIn('a: b: c')).toBeNull();
  });
});
