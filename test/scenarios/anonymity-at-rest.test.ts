import { spellInstant } from '../../base/instant.js';
import { createHash, createHmac } from 'node:crypto';
import { KeyedHash } from '../../ledger/keyed-hash.js';
import { testLedgerKey } from '../../ledger/ledger-key.test-kit.js';
import { LedgerKey } from '../../ledger/ledger-key.js';
import { canonicalJson } from '../../ledger/canonical-json.js';
import { answer, attendee, pollVote, qnaQuestion, question, rating, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const people = Array.from({ length: 12 }, (_, index) => 501 + index);
const votedAt = '2026-11-21T09:30:00.000Z';

/** Returns every value of every table, as a thief of the database would see it; bytes also as text. */
async function everyValue(stage: Stage): Promise<Buffer[]> {
  const columns = await stage.db.query<{ name: string; column: string }>(
    `select c.table_name as name, c.column_name as column from information_schema.columns c
       join pg_tables t on t.tablename = c.table_name and t.schemaname = c.table_schema
     where t.schemaname = any (current_schemas(false))`,
  );
  const values: Buffer[] = [];
  for (const { name, column } of columns) {
    const rows = await stage.db.query<{ value: unknown }>(
      `select distinct "${column}"::text as value from "${name}" where "${column}" is not null`,
    );
    for (const { value } of rows) values.push(...formsOf(String(value)));
  }
  return values;
}

/** Returns the bytes of a text, and the bytes that it encodes if it is hexadecimal or base64. */
function formsOf(text: string): Buffer[] {
  const hex = /^(?:\\+x)?((?:[0-9a-f]{2}){8,})$/i.exec(text)?.[1];
  const base64 = /^[A-Za-z0-9+/_-]{22,}={0,2}$/.test(text) ? [Buffer.from(text, 'base64')] : [];
  return [Buffer.from(text), ...(hex === undefined ? [] : [Buffer.from(hex, 'hex')]), ...base64];
}

/** Hashes all ids with a key and returns the attendees and votes whose hash occurs in the database. */
function namedBy(hash: KeyedHash, values: ReadonlySet<string>): { bySubject: number[]; byVote: number[] } {
  const stable = (id: number): string => canonicalJson(['votes', id, spellInstant(votedAt), 1, id]);
  return {
    bySubject: people.filter((id) => values.has(hash.subject('acme', id, 'anonymous').toString('hex'))),
    byVote: people.filter((id) => values.has(Buffer.from(hash.rowKey(stable(id))).toString('hex'))),
  };
}

const nobody = { bySubject: [], byVote: [] };

describe.each(kinds)('anonymity against a reader of the whole database, on %s', (kind) => {
  it('is protected by a key that no table contains', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people.map((id) => attendee(id)));
    await stage.put('sessions', session(1), session(2, { type: 'poll_word_cloud' }));
    const who = (id: number) => ({ id, anonymous: true });
    await stage.put('qna-questions', ...people.map((id) => qnaQuestion(id, who(id), 1)));
    await stage.put('questions', ...people.map((id) => question(id, id, 1)));
    await stage.put('votes', ...people.map((id) => vote(id, id, 1, { createdAt: votedAt })));
    await stage.put('answer_ratings', ...people.map((id) => rating(id + 1000, id, id, 1)));
    await stage.put('answers', ...people.map((id) => answer(id + 2000, id, 2)));
    await stage.put('poll-mcq-votes', ...people.map((id) => pollVote(id + 3000, who(id), 1)));
    const scene = await stage.webhookScene('consent: { accept: [obtained, not-asked, not-known] }');
    await scene.settle();
    expect(
      await stage.db.query(`select count(*)::int as n from items where visibility = 'anonymous' and list <> 'votes'`),
    ).toEqual([{ n: 5 * people.length }]);

    const values = await everyValue(stage);
    const known = new Set(values.map((value) => value.toString('hex')));
    // The attack works: with the key, it identifies everyone.
    expect(namedBy(new KeyedHash(testLedgerKey.keys), known)).toEqual({ bySubject: people, byVote: people });

    const candidates = [...new Set(values.filter(({ length }) => length === 32).map((value) => value.toString('hex')))];
    expect(candidates.length).toBeGreaterThan(10); // at least the content hashes are tried as keys
    for (const hex of candidates) {
      const key = Buffer.from(hex, 'hex');
      const derived = LedgerKey.parse(key.toString('base64'))!.keys;
      expect(namedBy(new KeyedHash({ hash: key, subject: key, fingerprint: key }), known)).toEqual(nobody);
      expect(namedBy(new KeyedHash(derived), known)).toEqual(nobody);
    }

    // No value is the hash of an id without a key, or with the ledger's own id as the key.
    const [ledger] = await stage.db.query<{ id: string }>('select id from ledger');
    const texts = people.flatMap((id) => [`${id}`, `acme\n${id}`, `101\n${id}`, `acme/101/${id}`]);
    const digests = texts.flatMap((text) => [
      ...['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHash(name).update(text).digest()),
      createHmac('sha256', ledger!.id).update(text).digest(),
      createHmac('sha256', '').update(text).digest(),
    ]);
    const guessed = digests.filter((digest) =>
      [digest, digest.subarray(0, 16), Buffer.from(digest.toString('base64url'))].some((each) =>
        known.has(each.toString('hex')),
      ),
    );
    expect(guessed).toEqual([]);
  });

  it('spans tables: no value of an anonymous row occurs in a row that identifies a person', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(501));
    await stage.put('sessions', session(1));
    await stage.put('qna-questions', qnaQuestion(11, { id: 501, anonymous: true }, 1));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 501, anonymous: false }, 1));
    const scene = await stage.webhookScene('consent: { accept: [obtained, not-asked, not-known] }');
    await scene.settle();
    const [row] = await stage.db.query<{ subject: Buffer; content_hash: Buffer; attendee_id: number | null }>(
      `select subject, content_hash, attendee_id from items where list = 'qna-questions'`,
    );
    expect(row!.attendee_id).toBeNull();
    const others = await stage.db.query<{ n: number }>(
      `select (select count(*) from items where list <> 'qna-questions' and (subject = $1 or content_hash = $2))::int
         + (select count(*) from sign_ins where subject = $1)::int
         + (select count(*) from audit where subject = $1)::int as n`,
      [row!.subject, row!.content_hash],
    );
    expect(others).toEqual([{ n: 0 }]);
  });
});
