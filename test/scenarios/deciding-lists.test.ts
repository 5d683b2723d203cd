import { createPigeonholeClient, type PigeonholeClient } from '../../pigeonhole/client.js';
import { answer, attendee, qnaQuestion, question, rating, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { archive, archived, everyone, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
/** An attendee id that no output may contain. */
const nameless = 77_001_177;
const judged = ['questions', 'votes', 'answer_ratings', 'answers'];

/** A client that calls `before` with the number of each page request, from 0, before it sends the request. */
function hookedClient(stage: Stage): PigeonholeClient & { before: (n: number) => Promise<void>; requests: string[] } {
  const client = createPigeonholeClient({ baseUrl: stage.sandbox.baseUrl, apiKey: 'sandbox-key' });
  const hooked = {
    ...client,
    before: async (_: number): Promise<void> => undefined,
    requests: [] as string[],
    page: (async (list, options) => {
      hooked.requests.push(list.list);
      await hooked.before(hooked.requests.length - 1);
      return await client.page(list, options);
    }) as PigeonholeClient['page'],
  };
  return hooked;
}

/** Adds an item of the person to each list that depends on a session. */
async function respond(stage: Stage, sessionId: number, attendeeId: number): Promise<void> {
  const id = sessionId * 10;
  await stage.put('questions', question(id, attendeeId, sessionId));
  await stage.put('votes', vote(id, attendeeId, sessionId));
  await stage.put('answer_ratings', rating(id, id, attendeeId, sessionId));
  await stage.put('answers', answer(id, attendeeId, sessionId));
}

describe.each(kinds)('an item that depends on the setting of another list, on %s', (kind) => {
  it('does not name its author if its session became anonymous before any of the requests', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(nameless));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const client = hookedClient(stage);
    const sinks = { archive: `{ type: file, folder: ./archive, lists: [${judged.join(', ')}], ${everyone} }` };
    const scene = await stage.scene({ client, sinks });
    await scene.settle();
    const perCycle = 8;
    for (let moment = 0; moment < perCycle; moment += 1) {
      const own = 100 + moment;
      await stage.put('sessions', session(own, { anonymousResponses: false }));
      await stage.sweepsAreDue();
      await scene.settle();
      client.requests.length = 0;
      client.before = async (n) => {
        if (n !== moment) return;
        await stage.patch('sessions', own, { anonymousResponses: true });
        await respond(stage, own, nameless);
      };
      await stage.pollsAreDue();
      await scene.settle();
      client.before = async () => undefined;
      await stage.sweepsAreDue();
      await scene.settle();
    }
    for (const list of judged) expect(archived(scene, list).length).toBeGreaterThanOrEqual(perCycle);
    expect(JSON.stringify(archive(scene))).not.toContain(String(nameless));
    // A sink that is faster than the next request for the sessions would have received the author.
    const named = await stage.db.query(`select 1 from changes where session_id >= 100 and visibility = 'named'`);
    expect(named).toEqual([]);
  });

  it('does not name its author if the flag of its question changed before any of the requests', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(nameless));
    await stage.put('sessions', session(1));
    const client = hookedClient(stage);
    const scene = await stage.scene({ client });
    await scene.settle();
    for (let moment = 0; moment < 6; moment += 1) {
      const id = 100 + moment;
      await stage.put('qna-questions', qnaQuestion(id, { id: nameless, anonymous: false }, 1));
      await stage.sweepsAreDue();
      await scene.settle();
      client.requests.length = 0;
      client.before = async (n) => {
        if (n !== moment) return;
        await stage.patch('qna-questions', id, { attendee: { anonymous: true } });
        await stage.put('questions', question(id, nameless, 1));
      };
      await stage.pollsAreDue();
      await scene.settle();
      client.before = async () => undefined;
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(archived(scene, 'questions')).toHaveLength(6);
    expect(JSON.stringify(archived(scene, 'questions'))).not.toContain(String(nameless));
  });

  it('names its author in its first revision if its session allows it, at the cost of one request for sessions per page at most', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1, { anonymousResponses: false }), session(2));
    const client = hookedClient(stage);
    const scene = await stage.scene({ client });
    await scene.settle();
    client.requests.length = 0;
    await respond(stage, 1, 5);
    await stage.put('questions', question(21, 5, 2));
    await stage.put('qna-questions', qnaQuestion(21, { id: 5, anonymous: false }, 2));
    await stage.pollsAreDue();
    await scene.settle();
    for (const list of judged) {
      expect(archived(scene, list, list === 'questions' ? 21 : undefined)).toMatchObject([
        { revision: 1, data: { attendeeId: 5 } },
      ]);
    }
    // The poll, and one read per page that waits for one. How many pages share a read depends on when they arrive.
    expect(client.requests.filter((list) => list === 'sessions').length).toBeLessThanOrEqual(1 + judged.length);
    // Requests for other lists do not make the interval of the sessions longer.
    const reads = await scene.ledger.db.query<{ list: string; quiet: number }>(
      "select list, quiet_reads as quiet from streams where list in ('sessions', 'attendees') and pigeonhole_number <> 0",
    );
    const quiet = Object.fromEntries(reads.map((row) => [row.list, row.quiet]));
    expect(quiet['sessions']).toBeLessThanOrEqual(quiet['attendees']!);

    client.requests.length = 0;
    await stage.pollsAreDue();
    await scene.settle();
    expect(client.requests.filter((list) => list === 'sessions')).toHaveLength(1);
  });

  it('is sent without its author while the sessions cannot be read, and with the author afterwards', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const scene = await stage.scene({
      sinks: { archive: `{ type: file, folder: ./archive, lists: [votes, answers], ${everyone} }` },
    });
    await scene.settle();
    await stage.fault({ kind: 'error', code: 5000, list: 'sessions' });
    await respond(stage, 1, 5);
    await stage.pollsAreDue();
    await scene.settle();
    expect(archived(scene, 'votes')).toMatchObject([{ revision: 1 }]);
    expect(JSON.stringify(archive(scene))).not.toContain('attendeeId');

    await stage.control('DELETE', 'faults');
    await stage.pollsAreDue();
    await scene.settle();
    for (const list of ['votes', 'answers']) {
      expect(archived(scene, list)).toMatchObject([{ revision: 1 }, { revision: 2, data: { attendeeId: 5 } }]);
    }
    expect(await stage.db.query('select 1 from visibility_reviews')).toEqual([]);
  });
});
