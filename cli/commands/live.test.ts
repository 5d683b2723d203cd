import { CommandError, ExitCode } from '../exit-code.js';
import { hostileTexts } from '../../test/kit/hostile-texts.js';
import { nounOf } from '../../base/item-titles.js';
import { renderLine } from '../text-line.js';
import { followChanges, LiveLines } from './live.js';

const event = (id: string, key: string): string =>
  `event: changes\nid: ${id}\ndata: ${JSON.stringify({ changes: [{ key }], skipped: 0 })}\n\n`;

/** A stream that ends after these events. */
const stream = (...events: readonly string[]): ReadableStream<Uint8Array> => new Response(events.join('')).body!;

/** Follows an API with these answers in order; a refusal ends it. */
async function followed(...answers: readonly (ReadableStream<Uint8Array> | CommandError)[]) {
  const asked: Readonly<Record<string, string>>[] = [];
  const keys: string[] = [];
  let lost = 0;
  const rest = [...answers, new CommandError(ExitCode.Failed, 'enough')];
  const api = {
    liveChanges: async (query: Readonly<Record<string, string>>) => {
      asked.push(query);
      const next = rest.shift()!;
      if (next instanceof CommandError) throw next;
      return next;
    },
  };
  const following = { query: { list: 'votes' }, recent: 5, onLost: () => (lost += 1), wait: async () => undefined };
  const all = async (): Promise<void> => {
    for await (const { changes } of followChanges(api, following)) keys.push(...changes.map(({ key }) => key));
  };
  const end = await all().catch((error: unknown) => error);
  return { asked, keys, lost, end };
}

const nobody = new CommandError(ExitCode.Unreachable, 'nobody answers');

describe('following changes', () => {
  it('continues after a lost connection behind the last change, and reports the loss once', async () => {
    const { asked, keys, lost } = await followed(
      stream(event('1-a', 'x'), event('1-b', 'y')),
      nobody,
      nobody,
      stream(),
    );
    expect(keys).toEqual(['x', 'y']);
    expect(asked.slice(0, 2)).toEqual([
      { list: 'votes', recent: '5' },
      { list: 'votes', after: '1-b' },
    ]);
    expect(lost).toBe(2); // the end of the first stream, and of the last; not each try between them
  });

  it('fails immediately if the first request is not answered', async () => {
    expect(await followed(nobody)).toMatchObject({ end: nobody, lost: 0 });
  });

  it('ends with a refusal of the API, also after a lost connection', async () => {
    const refused = new CommandError(ExitCode.Failed, 'this token is not known');
    expect(await followed(stream(event('1-a', 'x')), refused)).toMatchObject({ keys: ['x'], end: refused });
  });
});

describe('the lines of live changes', () => {
  const change = (sequence: number, list: string, more: object = {}): Parameters<LiveLines['add']>[0][number] => ({
    workspace: 'acme',
    pigeonholeId: 101,
    sequence,
    list,
    key: '9001',
    revision: 1,
    kind: 'created',
    sessionId: 1,
    visibility: 'named',
    foundAt: '2026-11-21T09:30:00.000Z',
    name: { noun: nounOf(list), title: 'When is lunch?', person: 'Ada', session: 'Opening keynote', event: 'DevConf' },
    ...more,
  });
  const news = (sequence: number, ...sinks: readonly (readonly [string, 'has' | 'waits' | 'not' | 'refused'])[]) => ({
    workspace: 'acme',
    pigeonholeId: 101,
    sequence,
    sinks: sinks.map(([sink, state]) => ({ sink, state, words: null })),
  });
  const printed = (lines: ReturnType<LiveLines['add']>, columns = 200): string[] =>
    lines.map((line) => renderLine(line, { columns, colours: false }));

  it('say who asked what where, once for a question that is in both lists', () => {
    const lines = new LiveLines();
    expect(printed(lines.add([change(1, 'questions'), change(2, 'qna-questions')], []))).toEqual([
      '2026-11-21 09:30:00  Ada asked in “Opening keynote”: When is lunch?  acme/101 qna-questions:9001',
    ]);
    expect(printed(lines.add([change(3, 'questions', { kind: 'deleted', revision: 2 })], []))).toEqual([
      '2026-11-21 09:30:00  Ada’s question was deleted in “Opening keynote”: When is lunch?  acme/101 questions:9001 revision 2',
    ]);
  });

  it('say once when every sink has settled a change, and at once when one refuses it', () => {
    const lines = new LiveLines();
    lines.add([change(1, 'questions'), change(2, 'qna-questions')], []);
    expect(lines.add([], [news(1, ['hooks', 'has'])])).toEqual([]); // the other list is open
    expect(lines.add([], [news(2, ['hooks', 'waits'])])).toEqual([]);
    const settled = printed(lines.add([], [news(2, ['hooks', 'has'], ['late', 'not'])]));
    expect(settled).toEqual(['                     → hooks has it; late does not receive it  When is lunch?']);
    expect(lines.add([], [news(2, ['hooks', 'has'], ['late', 'not'])])).toEqual([]);

    lines.add([change(4, 'votes')], []);
    expect(printed(lines.add([], [news(4, ['hooks', 'refused'], ['slow', 'waits'])]))).toEqual([
      '                     → hooks refused it; slow waits  When is lunch?',
    ]);
  });

  it('paint nothing: a text of the audience cannot move the cursor, change colours or fill more than one line', () => {
    for (const text of hostileTexts) {
      const name = { noun: 'a question', title: text, person: text, session: text, event: text };
      const lines = printed(new LiveLines().add([change(1, 'questions', { name, key: text })], []), 80);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    }
  });
});
