import { classifyRecordErrors } from './classify-record-errors.js';
import { saidErrors } from './said-errors.js';

const said = (statusCode: string, fields: readonly string[] = []) =>
  saidErrors([{ statusCode, fields, message: 'value is ada@example.com' }]);

describe('a record that Salesforce refused', () => {
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
  ])('with %s in %j is judged so', (code, fields, expected) => {
    const failure = classifyRecordErrors(said(code, fields), 'Lead', 'r1');
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain('ada@');
  });

  it('is shown no code and no field that has another form than theirs', () => {
    const failure = classifyRecordErrors(said('ada@example.com is taken', ['Ada Lovelace']), 'Lead');
    expect(failure).toMatchObject({ result: { cause: 'salesforce:unknown' } });
    expect(JSON.stringify(failure)).not.toMatch(/ada/i);
  });
});
