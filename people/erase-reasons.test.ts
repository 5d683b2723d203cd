import { namesPerson, namingTexts } from './erase-reasons.js';

const texts = namingTexts(
  {
    asked: 'Ada@Example.com',
    places: [{ ref: 1, workspace: 'acme', pigeonholeId: 101, attendeeIds: [42], codes: ['K-77'] }],
  },
  [{ id: 42, Name: 'Ada Lovelace', 'E-mail': 'ada@work.example', Company: 'Engines' }],
);

describe('a typed reason', () => {
  it.each([
    'ada@example.com asked for it',
    'as ADA@WORK.EXAMPLE wrote on Monday',
    'Lovelace is in the CRM twice',
    'attendee 42 has to be sent again',
    "code k-77's row was wrong",
    '(Ada)',
  ])('names the person: %s', (reason) => {
    expect(namesPerson(reason, texts)).toBe(true);
  });

  it.each(['Canada is sent again', '420 items were lost', 'the CRM of Engines was down', 'ada2@example.com asked'])(
    'does not name the person: %s',
    (reason) => {
      expect(namesPerson(reason, texts)).toBe(false);
    },
  );

  it('does not match a name of one letter', () => {
    expect(namesPerson('a sink was down', namingTexts({ asked: null, places: [] }, [{ Name: 'A B' }]))).toBe(false);
  });
});
