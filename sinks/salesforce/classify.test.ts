import { classifyAnswer, type Answer, classifyRecordErrors, saidErrors } from './classify.js';

const answer = (status: number, code?: string, more: Partial<Answer> = {}): Answer => ({
  status,
  body: code === undefined ? undefined : [{ errorCode: code, message: 'quotes ada@example.com', fields: ['Email'] }],
  answeredAtMs: Date.parse('2026-11-21T10:00:00Z'),
  requestId: 'r1',
  ...more,
});

describe('a response from Salesforce', () => {
  it.each([
    ['200 with JSON', answer(200, undefined, { body: [] }), { kind: 'answered' }],
    ['204', answer(204), { kind: 'answered' }],
    ['200 with a page', answer(200), { kind: 'failed', result: { kind: 'retry' } }],
    ['401', answer(401, 'INVALID_SESSION_ID'), { kind: 'session-ended' }],
    [
      '403 because of the user',
      answer(403, 'API_DISABLED_FOR_ORG'),
      { kind: 'failed', result: { kind: 'pause', cause: 'credential' } },
    ],
    ['403 because of the daily limit', answer(403, 'REQUEST_LIMIT_EXCEEDED'), { kind: 'limited', afterMs: 3_600_000 }],
    [
      '403 because of the daily limit, with the time of its end',
      answer(403, 'REQUEST_LIMIT_EXCEEDED', { retryAfter: '600' }),
      { kind: 'limited', afterMs: 600_000 },
    ],
    [
      '403 because of too many concurrent requests',
      answer(403, undefined, {
        body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'ConcurrentPerOrgLongTxn Limit exceeded.' }],
      }),
      { kind: 'limited', afterMs: 10_000 },
    ],
    ['400', answer(400, 'JSON_PARSER_ERROR'), { kind: 'refused', code: 'JSON_PARSER_ERROR', fields: ['Email'] }],
    ['400 because of a locked row', answer(400, 'UNABLE_TO_LOCK_ROW'), { kind: 'failed', result: { kind: 'retry' } }],
    ['400 with a page', answer(400), { kind: 'refused', code: 'HTTP_400' }],
    ['422', answer(422), { kind: 'refused', code: 'HTTP_422' }],
    ['409', answer(409, 'CONFLICT'), { kind: 'refused', code: 'CONFLICT' }],
    ['405', answer(405), { kind: 'failed', result: { kind: 'retry' } }],
    ['404', answer(404, 'NOT_FOUND'), { kind: 'failed', result: { kind: 'retry' } }],
    ['410', answer(410), { kind: 'failed', result: { kind: 'pause', cause: 'gone' } }],
    ['420', answer(420), { kind: 'failed', result: { kind: 'retry', afterMs: 30_000 } }],
    ['302', answer(302), { kind: 'failed', result: { kind: 'retry' } }],
    ['500', answer(500, 'UNKNOWN_EXCEPTION'), { kind: 'failed', result: { kind: 'retry' } }],
    ['503', answer(503), { kind: 'failed', result: { kind: 'retry', afterMs: 30_000 } }],
    [
      '503 with Retry-After',
      answer(503, undefined, { retryAfter: '120' }),
      { kind: 'failed', result: { kind: 'retry', afterMs: 120_000 } },
    ],
  ])('with status %s has the expected outcome', (_, given, expected) => {
    const meaning = classifyAnswer(given);
    expect(meaning).toMatchObject(expected);
    expect(JSON.stringify(meaning)).not.toContain('ada@');
  });

  it('is reported with the id of its request', () => {
    expect(classifyAnswer(answer(500))).toMatchObject({ result: { detail: expect.stringContaining('request r1') } });
  });
});

const said = (statusCode: string, fields: readonly string[] = []) =>
  saidErrors([{ statusCode, fields, message: 'value is ada@example.com' }]);

describe('a record that Salesforce rejected', () => {
  it.each([
    ['UNABLE_TO_LOCK_ROW', [], { kind: 'other', result: { kind: 'retry' } }],
    ['REQUEST_LIMIT_EXCEEDED', [], { kind: 'other', result: { kind: 'retry' } }],
    ['ENTITY_IS_DELETED', [], { kind: 'gone' }],
    ['NOT_FOUND', ['Id'], { kind: 'gone' }],
    ['CANNOT_UPDATE_CONVERTED_LEAD', [], { kind: 'converted' }],
    [
      'INVALID_CROSS_REFERENCE_KEY',
      ['OwnerId'],
      { kind: 'other', result: { kind: 'rejected', cause: 'salesforce:INVALID_CROSS_REFERENCE_KEY:OwnerId' } },
    ],
    [
      'DUPLICATE_VALUE',
      ['Engagement_Id__c'],
      { kind: 'duplicate', result: { kind: 'rejected', cause: 'salesforce:DUPLICATE_VALUE:Engagement_Id__c' } },
    ],
    [
      'DUPLICATES_DETECTED',
      [],
      { kind: 'other', result: { kind: 'rejected', cause: 'salesforce:DUPLICATES_DETECTED' } },
    ],
    [
      'STRING_TOO_LONG',
      ['LastName'],
      { kind: 'other', result: { kind: 'rejected', cause: 'salesforce:STRING_TOO_LONG:LastName' } },
    ],
    [
      'REQUIRED_FIELD_MISSING',
      ['LastName', 'Company'],
      { kind: 'other', result: { kind: 'rejected', cause: 'salesforce:REQUIRED_FIELD_MISSING:LastName+Company' } },
    ],
    ['FIELD_CUSTOM_VALIDATION_EXCEPTION', [], { kind: 'other', result: { kind: 'rejected' } }],
    [
      'A_CODE_OF_NEXT_YEAR',
      [],
      { kind: 'other', result: { kind: 'rejected', cause: 'salesforce:A_CODE_OF_NEXT_YEAR' } },
    ],
  ])('with %s in %j has the expected outcome', (code, fields, expected) => {
    const failure = classifyRecordErrors(said(code, fields), 'Lead', 'r1');
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain('ada@');
  });

  it('shows no code or field name of unexpected form', () => {
    const failure = classifyRecordErrors(said('ada@example.com is taken', ['Ada Lovelace']), 'Lead');
    expect(failure).toMatchObject({ result: { cause: 'salesforce:unknown' } });
    expect(JSON.stringify(failure)).not.toMatch(/ada/i);
  });
});
