import { CommandError, ExitCode } from '../exit-code.js';
import { followChanges } from './live.js';

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
