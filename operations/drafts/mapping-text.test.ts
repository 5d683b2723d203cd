import { mappingIn, replaceMapping } from './mapping-text.js';

const file = `# our file
sinks:
  archive: { type: file, folder: ./a }
  channel: # messages
    type: slack
    # where urgent ones go
    routes:
      - { when: item.urgent, channel: C1 }
    token: \${SLACK_BOT_TOKEN} # a comment
    messages: # what is posted
      - from: questions
        text: item.content # the text

        # nothing else
    limits: { per10s: 5 } # last
# the end
`;
const keys = ['messages', 'routes'];
const mapping = `# where urgent ones go
routes:
  - { when: item.urgent, channel: C1 }
messages: # what is posted
  - from: questions
    text: item.content # the text

    # nothing else
`;

describe('the mapping of a sink in a file', () => {
  it('is a text of its keys, with their comments and without the indentation of the file', () => {
    expect(mappingIn(file, 'channel', keys)).toBe(mapping);
    expect(mappingIn(file, 'channel', ['records'])).toBe('');
  });

  it('is replaced without a change of anything else', () => {
    const text = 'messages:\n  - from: votes # new\n    text: item.value\n';
    const placed = replaceMapping(file, { sink: 'channel', keys, text })!;
    expect(placed.file).toBe(`# our file
sinks:
  archive: { type: file, folder: ./a }
  channel: # messages
    type: slack
    messages:
      - from: votes # new
        text: item.value
    token: \${SLACK_BOT_TOKEN} # a comment
    limits: { per10s: 5 } # last
# the end
`);
    expect(placed).toMatchObject({ firstLine: 6, lines: 3, indent: 4 });
    expect(mappingIn(placed.file, 'channel', keys)).toBe(text);
  });

  it('is unchanged after it is replaced with the same text, apart from the order of the keys of the sink', () => {
    const placed = replaceMapping(file, { sink: 'channel', keys, text: mapping })!;
    expect(mappingIn(placed.file, 'channel', keys)).toBe(mapping);
    expect(replaceMapping(placed.file, { sink: 'channel', keys, text: mapping })!.file).toBe(placed.file);
  });

  it('is added after the last key of a sink that has none', () => {
    const text = 'records:\n  - from: votes\n';
    const placed = replaceMapping(file, { sink: 'channel', keys: ['records'], text })!;
    expect(placed.file).toContain('    limits: { per10s: 5 } # last\n    records:\n      - from: votes\n# the end');
    expect(placed.file.split('\n')[placed.firstLine - 1]).toBe('    records:');
  });

  it('keeps the line ends of the file', () => {
    const windows = file.replaceAll('\n', '\r\n');
    const placed = replaceMapping(windows, { sink: 'channel', keys, text: mapping })!;
    expect(placed.file.replaceAll('\r\n', '')).not.toContain('\n');
    expect(mappingIn(windows, 'channel', keys)).toBe(mapping);
  });

  it.each([
    ['another key of the sink', 'token: x\n'],
    ['a key of the file', 'messages: []\n  token: x\n'],
    ['a list', '- from: votes\n'],
  ])('is not replaced by %s', (_, text) => {
    expect(replaceMapping(file, { sink: 'channel', keys, text })).toBeNull();
  });

  it('is not replaced where the sink is not there, or is written in braces', () => {
    expect(replaceMapping(file, { sink: 'archive', keys: ['records'], text: 'records: []' })).toBeNull();
    expect(mappingIn(file, 'other', keys)).toBeNull();
  });
});
