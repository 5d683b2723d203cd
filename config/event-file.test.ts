import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.js';
import { readEventFile, workspaceOfEvent } from './event-file.js';

const smallest = `id: summit
pigeonhole:
  name: ACME Summit
  startDate: 2026-11-21
  endDate: 2026-11-22
  timezone: Europe/Berlin
`;

/** Adds these sessions, the first of them at line 8. */
const withSessions = (...lines: string[]): string =>
  `${smallest}sessions:\n${lines.map((line) => `  - ${line}\n`).join('')}`;

function problemsOf(text: string): string[] {
  try {
    readEventFile(text, 'event.yaml');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}

describe('an event file', () => {
  it('is converted to the service’s field names and to times in UTC, without the ids of the file', () => {
    const text = withSessions(
      '{ id: opening, name: Opening, type: qna, startDate: 2026-11-21T09:00, endDate: 2026-11-21 10:00, answers: true }',
      '{ id: words, name: Words, type: poll_word_cloud, startDate: "2026-11-21T09:00+08:00", more: { options: [a, b] } }',
    );
    const { id, workspace, subscription, pigeonhole, sessions } = readEventFile(text, 'event.yaml');
    expect([id, workspace, subscription]).toEqual(['summit', null, null]);
    expect(pigeonhole.fields).toEqual({
      name: 'ACME Summit',
      startDate: '2026-11-21',
      endDate: '2026-11-22',
      timezone: 'Europe/Berlin',
    });
    expect(sessions.map(({ key, fields }) => [key, fields])).toEqual([
      [
        'opening',
        {
          name: 'Opening',
          type: 'qna',
          startDate: '2026-11-21T08:00:00Z',
          endDate: '2026-11-21T09:00:00Z',
          answers: true,
        },
      ],
      ['words', { name: 'Words', type: 'poll_word_cloud', startDate: '2026-11-21T01:00:00Z', options: ['a', 'b'] }],
    ]);
  });

  it('has a line for each field, even inside "more", and otherwise the line of the object', () => {
    const [session] = readEventFile(
      withSessions('id: a\n    name: A\n    type: break\n    more:\n      seats: 3'),
      'event.yaml',
    ).sessions;
    expect(session!.problemLine('type', 'is odd')).toBe('event.yaml:10: sessions[0].type: is odd');
    expect(session!.problemLine('seats', 'is odd')).toBe('event.yaml:12: sessions[0].more.seats: is odd');
    expect(session!.problemLine('unheardOf', 'is odd')).toBe('event.yaml:8: sessions[0].unheardOf: is odd');
  });

  it('resolves no references, so that it cannot read secrets', () => {
    const text = smallest.replace('ACME Summit', '"${HOME} ${file:/etc/passwd}"');
    expect(readEventFile(text, 'event.yaml').pigeonhole.fields.name).toBe('${HOME} ${file:/etc/passwd}');
  });

  it('causes a warning about a session outside the days of its pigeonhole', () => {
    const text = withSessions('{ id: a, name: A, type: break, startDate: 2026-11-23T09:00 }');
    expect(readEventFile(text, 'event.yaml').warnings).toEqual([
      'event.yaml:8: sessions[0].startDate: is not on a day of the pigeonhole: in Europe/Berlin, it is 2026-11-23',
    ]);
  });

  it.each<[string, string[]]>([
    ['startDate: 2026-11-21T00:00, endDate: 2026-11-23T00:00', []],
    ['startDate: 2026-11-20T23:30Z, endDate: 2026-11-21T08:00Z', []],
    ['startDate: 2026-11-22T23:30Z, endDate: 2026-11-22T23:45Z', ['startDate', 'endDate']],
    ['startDate: 2026-11-20T22:00Z, endDate: 2026-11-21T08:00Z', ['startDate']],
    ['startDate: 2026-11-22T20:00, endDate: 2026-11-23T01:00', ['endDate']],
    [
      'startDate: 2026-11-21T09:00, endDate: 2026-11-21T08:00Z',
      ['endDate: is the same as startDate, so the session has no length'],
    ],
  ])('causes warnings in the time zone of the pigeonhole: %s', (times, expected) => {
    const { warnings } = readEventFile(withSessions(`{ id: a, name: A, type: qna, ${times} }`), 'event.yaml');
    expect(warnings).toEqual(expected.map((text) => expect.stringContaining(`sessions[0].${text}`)));
  });

  it.each<[string, string, string[]]>([
    ['no content', '', ['event.yaml:1: the file is empty; docs/provisioning.md shows what it must contain']],
    ['invalid YAML', 'id: "a', [expect.stringMatching(/^event\.yaml:1: this is not YAML/)]],
    [
      'no pigeonhole',
      'id: a\n',
      ['event.yaml:1: pigeonhole: is missing, allowed: a group with name, startDate, endDate, timezone'],
    ],
    ['an unknown key', `${smallest}sesions: []\n`, ['event.yaml:7: sesions: unknown key, did you mean "sessions"?']],
    [
      'days in the wrong order',
      smallest.replace('2026-11-22', '2026-11-20'),
      ['event.yaml:5: pigeonhole.endDate: is before startDate; correct one of the two'],
    ],
    [
      'an invalid day',
      smallest.replace('2026-11-22', '2026-02-30'),
      ['event.yaml:5: pigeonhole.endDate: found "2026-02-30", allowed: a day such as 2026-01-31'],
    ],
    [
      'an invalid time zone',
      smallest.replace('Europe/Berlin', 'CEST+2'),
      ['event.yaml:6: pigeonhole.timezone: found "CEST+2", allowed: an IANA time zone such as Europe/Berlin'],
    ],
    [
      'a qna session without times',
      withSessions('{ id: a, name: A, type: qna }'),
      [
        'event.yaml:8: sessions[0].startDate: is missing, and a qna session needs it',
        'event.yaml:8: sessions[0].endDate: is missing, and a qna session needs it',
      ],
    ],
    [
      'an invalid time',
      withSessions('{ id: a, name: A, type: break, startDate: 2026-11-21T24:30 }'),
      [
        expect.stringMatching(
          /^event\.yaml:8: sessions\[0\]\.startDate: found "2026-11-21T24:30", allowed: a time such as/,
        ),
      ],
    ],
    [
      'a time that does not exist when clocks change, and one that exists twice',
      withSessions(
        '{ id: a, name: A, type: break, startDate: 2026-03-29T02:30 }',
        '{ id: b, name: B, type: break, startDate: 2026-10-25T02:30 }',
      ),
      [
        'event.yaml:8: sessions[0].startDate: this time does not exist in Europe/Berlin: clocks are set forward over it',
        expect.stringMatching(/^event\.yaml:9: sessions\[1\]\.startDate: this time occurs twice in Europe\/Berlin/),
      ],
    ],
    [
      'a session that ends before it starts',
      withSessions('{ id: a, name: A, type: qna, startDate: 2026-11-21T09:00, endDate: "2026-11-21T08:30+01:00" }'),
      ['event.yaml:8: sessions[0].endDate: is before startDate; correct one of the two'],
    ],
    [
      'an id that is used twice, and a reserved id',
      withSessions('{ id: a, name: A, type: break }', '{ id: a, name: B, type: break }'),
      ['event.yaml:9: sessions[1].id: this id is used twice; give each session its own'],
    ],
    [
      'a session that is called pigeonhole',
      withSessions('{ id: pigeonhole, name: A, type: break }'),
      [
        expect.stringMatching(
          /^event\.yaml:8: sessions\[0\]\.id: "pigeonhole" is what the pigeonhole itself is called/,
        ),
      ],
    ],
    [
      'a known field in "more"',
      withSessions('{ id: a, name: A, type: break, more: { name: B } }'),
      ['event.yaml:8: sessions[0].more.name: is a key of its own; write it outside of "more"'],
    ],
  ])('with %s is refused with the line of each problem', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  it('belongs to the workspace that it names, or to the only one', () => {
    const event = readEventFile(smallest, 'event.yaml');
    const named = readEventFile(smallest.replace('id: summit', 'id: summit\nworkspace: acme'), 'event.yaml');
    expect(workspaceOfEvent(event, 'event.yaml', ['acme'])).toBe('acme');
    expect(workspaceOfEvent(named, 'event.yaml', ['other', 'acme'])).toBe('acme');
    expect(() => workspaceOfEvent(event, 'event.yaml', ['acme', 'other'])).toThrow(
      'event.yaml:1: workspace: is missing, allowed: one of acme, other of pigeonpost.yaml',
    );
    expect(() => workspaceOfEvent(named, 'event.yaml', ['other'])).toThrow(
      'event.yaml:2: workspace: found "acme", allowed: one of other of pigeonpost.yaml',
    );
  });

  it('is shown in docs/provisioning.md in a valid form', () => {
    const guide = readFileSync(join(__dirname, '../docs/provisioning.md'), 'utf8');
    const [, shown] = /```yaml\n([^]*?)```/.exec(guide)!;
    const event = readEventFile(shown!, 'event.yaml');
    expect(event.sessions.length).toBeGreaterThan(2);
    expect(event.warnings).toEqual([]);
  });
});
