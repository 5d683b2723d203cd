import { randomUUID } from 'node:crypto';
import { askLrs, aStatement, aVoiding, basicAuthorization, type LrsTarget } from './lrs-client.test-kit.js';

/**
 * Tests the behaviour that a sender of statements relies on, for any LRS of xAPI 1.0.3. The tests run against the
 * stand-in and, if one is installed, against a real LRS, which verifies the stand-in's interpretation of the
 * specification. Each test creates its own statements, because a real LRS keeps all of them.
 */
export function lrsProtocol(name: string, target: () => LrsTarget): void {
  const post = (body: unknown) => askLrs(target(), '/statements', { body });
  const get = (query: Readonly<Record<string, string>>) => askLrs(target(), '/statements', { query });

  describe(`the statements of ${name}`, () => {
    it('are stored from a list, answered with their ids in the same order, and can be read by id', async () => {
      const statements = [aStatement(), aStatement(), aStatement()];
      expect(await post(statements)).toMatchObject({ status: 200, body: statements.map(({ id }) => id) });
      for (const { id } of statements)
        expect(await get({ statementId: id })).toMatchObject({ status: 200, body: { id } });
    });

    it('can also be stored one by one', async () => {
      const posted = aStatement();
      expect(await post(posted)).toMatchObject({ status: 200, body: [posted.id] });
      expect(await get({ statementId: posted.id })).toMatchObject({ body: { timestamp: posted['timestamp'] } });
    });

    it('receive an id and a timestamp if they have none', async () => {
      const { id: _, timestamp: __, ...bare } = aStatement();
      const { body } = await post([bare]);
      const [id] = body as [string];
      const read = await get({ statementId: id });
      expect(read.body).toMatchObject({ id, version: '1.0.0' });
      expect(Object.keys(read.body as object)).toEqual(expect.arrayContaining(['timestamp', 'stored', 'authority']));
    });

    it('are not stored at all if one of them is invalid', async () => {
      const good = aStatement();
      expect((await post([good, aStatement({ verb: { id: 'asked' } })])).status).toBe(400);
      expect((await get({ statementId: good.id })).status).toBe(404);
    });

    it('are refused if two in a request have the same id', async () => {
      const statement = aStatement();
      expect((await post([statement, statement])).status).toBe(400);
      expect((await get({ statementId: statement.id })).status).toBe(404);
    });

    it('are accepted again with the same content', async () => {
      const statement = aStatement();
      await post([statement]);
      expect((await post([statement])).status).toBe(200);
    });

    it('count as equal in any order of their keys', async () => {
      const statement = aStatement();
      await post([statement]);
      expect((await post([Object.fromEntries(Object.entries(statement).toReversed())])).status).toBe(200);
    });

    it('are refused with 409 if the id exists with other content, and the first statement stays', async () => {
      const statement = aStatement();
      await post([statement]);
      const other = { ...statement, result: { response: 'another' } };
      expect((await post([other])).status).toBe(409);
      expect((await get({ statementId: statement.id })).body).not.toHaveProperty('result');
    });

    it('are not stored together with one that conflicts', async () => {
      const [known, fresh] = [aStatement(), aStatement()];
      await post([known]);
      expect((await post([fresh, { ...known, result: { response: 'another' } }])).status).toBe(409);
      expect((await get({ statementId: fresh.id })).status).toBe(404);
    });

    it('are not found by an id that was never stored', async () => {
      expect((await get({ statementId: randomUUID() })).status).toBe(404);
    });
  });

  describe(`a voided statement of ${name}`, () => {
    it('is found only as voided, and its voiding is found like any statement', async () => {
      const statement = aStatement();
      const voiding = aVoiding(statement.id);
      await post([statement]);
      expect((await get({ voidedStatementId: statement.id })).status).toBe(404);
      expect((await post([voiding])).status).toBe(200);
      expect((await get({ statementId: statement.id })).status).toBe(404);
      expect(await get({ voidedStatementId: statement.id })).toMatchObject({ status: 200, body: { id: statement.id } });
      expect((await get({ statementId: voiding.id })).status).toBe(200);
    });

    it('can be voided in the request that stores it', async () => {
      const statement = aStatement();
      expect((await post([statement, aVoiding(statement.id)])).status).toBe(200);
      expect((await get({ voidedStatementId: statement.id })).status).toBe(200);
    });

    it('can be voided before it exists', async () => {
      const statement = aStatement();
      expect((await post([aVoiding(statement.id)])).status).toBe(200);
    });

    it('accepts the same voiding again', async () => {
      const statement = aStatement();
      const voiding = aVoiding(statement.id);
      await post([statement, voiding]);
      expect((await post([voiding])).status).toBe(200);
    });

    it('is not restored if its voiding is voided', async () => {
      const statement = aStatement();
      const voiding = aVoiding(statement.id);
      await post([statement, voiding]);
      await post([aVoiding(voiding.id)]);
      expect((await get({ statementId: statement.id })).status).toBe(404);
      expect((await get({ statementId: voiding.id })).status).toBe(200);
    });

    it('stays voided if it is sent again', async () => {
      const statement = aStatement();
      await post([statement, aVoiding(statement.id)]);
      expect((await post([statement])).status).toBe(200);
      expect((await get({ statementId: statement.id })).status).toBe(404);
    });
  });

  describe(`a statement for ${name}`, () => {
    const activity = (definition: object) => ({
      object: { id: 'https://example.com/questions/1', definition },
    });
    it.each([
      ['no actor', { actor: undefined }],
      ['no verb', { verb: undefined }],
      ['no object', { object: undefined }],
      ['a null value', { result: null }],
      ['an unknown property', { colour: 'red' }],
      ['an id that is not a UUID', { id: 'q-1' }],
      ['two identifiers of an actor', { actor: { mbox: 'mailto:a@example.com', openid: 'https://example.com/a' } }],
      ['an actor without an identifier', { actor: { name: 'A' } }],
      ['an account whose home page is not an IRL', { actor: { account: { homePage: 'example', name: 'A' } } }],
      ['an account whose name is a number', { actor: { account: { homePage: 'https://example.com', name: 17 } } }],
      ['an mbox without mailto', { actor: { mbox: 'a@example.com' } }],
      ['a verb that is not an IRI', { verb: { id: 'asked' } }],
      ['an object type in lower case', { object: { objectType: 'activity', id: 'https://example.com/1' } }],
      ['an invalid timestamp', { timestamp: 'yesterday' }],
      ['a timestamp of negative zero', { timestamp: '2026-11-21T09:00:00-00:00' }],
      ['an invalid duration', { result: { duration: '90 s' } }],
      ['a scaled score above 1', { result: { score: { scaled: 1.5 } } }],
      ['a raw score above its maximum', { result: { score: { raw: 11, min: 0, max: 10 } } }],
      ['an extension whose key is not an IRI', { result: { extensions: { evidence: 1 } } }],
      ['an invalid language tag', { verb: { id: 'https://example.com/asked', display: { a_b: 'asked' } } }],
      ['choices without an interaction type', activity({ choices: [{ id: 'a' }] })],
      ['a scale on a choice', activity({ interactionType: 'choice', scale: [{ id: 'a' }] })],
      ['an unknown interaction type', activity({ interactionType: 'guess' })],
      [
        'a platform for an object that is a person',
        {
          object: { objectType: 'Agent', mbox: 'mailto:a@example.com' },
          context: { platform: 'x' },
        },
      ],
      ['a voiding without a reference', { verb: { id: 'http://adlnet.gov/expapi/verbs/voided' } }],
    ])('is refused with %s', async (_, changes) => {
      expect((await post([aStatement(changes)])).status).toBe(400);
    });

    it.each([
      [
        'a choice with its answer',
        {
          ...activity({
            type: 'http://adlnet.gov/expapi/activities/cmi.interaction',
            interactionType: 'choice',
            correctResponsesPattern: ['a[,]b'],
            choices: [
              { id: 'a', description: { en: 'A' } },
              { id: 'b', description: { en: 'B' } },
            ],
          }),
          result: { response: 'a[,]b', success: true, score: { scaled: 1 }, duration: 'PT12.5S' },
        },
      ],
      [
        'context activities',
        {
          context: {
            platform: 'pigeonpost',
            contextActivities: {
              parent: [{ id: 'https://example.com/s/1' }],
              grouping: [{ id: 'https://example.com/p/1' }],
            },
          },
        },
      ],
      [
        'extensions of any shape',
        { result: { extensions: { 'https://example.com/evidence': ['votes:1', { a: null }] } } },
      ],
      ['a timestamp with an offset', { timestamp: '2026-11-21T10:00:00.123+01:00' }],
    ])('is accepted with %s', async (_, changes) => {
      expect((await post([aStatement(changes)])).status).toBe(200);
    });
  });

  describe(`a request to ${name}`, () => {
    it('is refused with unknown credentials', async () => {
      const authorization = target().refusedAuthorization ?? basicAuthorization({ ...target(), password: 'wrong' });
      expect((await askLrs(target(), '/statements', { headers: { authorization } })).status).toBe(401);
    });

    it.each([
      ['no version', undefined, 400],
      ['version 0.9', '0.9', 400],
      ['version 1.1.0', '1.1.0', 400],
      ['version 1.0', '1.0', 200],
      ['version 1.0.9', '1.0.9', 200],
    ])('with %s is answered with the version of the LRS and a status', async (_, version, status) => {
      const answer = await askLrs(target(), '/statements', {
        body: [aStatement()],
        headers: { 'x-experience-api-version': version },
      });
      expect([answer.status, answer.headers.get('x-experience-api-version')]).toEqual([status, '1.0.3']);
    });

    it.each([
      ['a body that is not JSON', { body: '{' }],
      ['another content type', { body: aStatement(), headers: { 'content-type': 'text/plain' } }],
      ['an unknown parameter', { query: { statementid: randomUUID() } }],
      ['two ids', { query: { statementId: randomUUID(), voidedStatementId: randomUUID() } }],
      ['an id and a filter', { query: { statementId: randomUUID(), limit: '1' } }],
    ])('is refused: %s', async (_, request) => {
      expect((await askLrs(target(), '/statements', request)).status).toBe(400);
    });

    it('is answered with the time up to which statements can be read', async () => {
      const { headers } = await get({ statementId: randomUUID() });
      expect(Date.parse(headers.get('x-experience-api-consistent-through') ?? '')).not.toBeNaN();
    });

    it('for "about" is answered without credentials', async () => {
      const about = await askLrs(target(), '/about', {
        headers: { authorization: undefined, 'x-experience-api-version': undefined },
      });
      expect(about.status).toBe(200);
      expect((about.body as { version: string[] }).version.some((version) => version.startsWith('1.0.'))).toBe(true);
    });
  });
}
