import { answerExcerpt, textsOfAddress } from './answer-excerpt.js';

/** The content of a request about an invented person. */
const person = {
  list: 'attendees',
  key: '4815',
  data: {
    name: 'Zoë Quillfeather-Okonjo',
    email: 'zoe.quill@example.org',
    code: 'QX-7788-PL',
    phone: '+49 (151) 555 0199',
    company: 'Brackenmoor Holdings',
    jobTitle: 'Chief Beekeeper',
    city: '東京都',
    note: 'allergic to hazelnuts',
  },
  [`votes of ${'Zoë Quillfeather'}`]: 3,
};
const token = 'pat-Zx81kLmQ0rT7';
const sent = [...textsOfAddress(new URL('https://hooks.example.com/in/s3cretpath?token=t0kenvalue')), token, person];
const excerptOf = (body: unknown, status = 422): string | undefined => answerExcerpt({ body, status, sent });

/** Texts that must never be left of an answer, in any form. */
const forbidden =
  /zo[ëe]|quill|feather|okonjo|example\.org|qx|7788|151|0199|brackenmoor|holdings|beekeeper|東京|hazelnut|allergic|s3cret|t0ken|zx81|4815/i;

describe('the excerpt of an answer', () => {
  it.each([
    ['{"error":"invalid_email","field":"email"}', '{"error":"invalid_email","field":"email"}'],
    [
      '{"message":"The email field is required.","errors":{"email":["The email field is required."]}}',
      '{"message":"The email field is required.","errors":{"email":["The email field is required."]}}',
    ],
    [
      '{"status":422,"title":"Unprocessable Entity","detail":"must be at most 40 characters","input":{"x":"private"}}',
      '{"status":422,"title":"Unprocessable Entity","detail":"must be at most 40 characters"}',
    ],
    [
      '{"errors":[{"path":"data.jobTitle","code":"too_long","received":"a b"}]}',
      '{"errors":[{"path":"data.jobTitle","code":"too_long"}]}',
    ],
    ['unknown field "data.jobTitle"', 'unknown field "data.jobTitle"'],
    [
      '<!DOCTYPE html><style>p{}</style><h1>Bad Request</h1>\n<p>The signature is invalid</p>',
      'Bad Request The signature is invalid',
    ],
    ['<Error><Code>invalid</Code><Message>the date is missing</Message></Error>', 'invalid the date is missing'],
  ])('keeps what is wrong: %s', (body, expected) => expect(excerptOf(body)).toBe(expected));

  it.each([
    ['e-mail', 'email zoe.quill@example.org is already used by another contact'],
    ['an address of another person', 'email is already used by hal.jordan@example.org'],
    ['name', 'cannot create Zoë Quillfeather-Okonjo: duplicate'],
    ['name in capitals', 'cannot create ZOE QUILLFEATHER: duplicate'],
    ['name in small letters without accents', 'cannot create zoe quillfeather: duplicate'],
    ['name in percent code', 'cannot get /in/s3cretpath?name=Zo%C3%AB%20Quillfeather-Okonjo'],
    ['name in references of HTML', 'cannot create Zo&#235; &#x51;uillfeather: duplicate'],
    ['name in escapes of JSON', String.raw`cannot create Zo\u00eb: duplicate`],
    ['name with invisible characters', 'cannot create Z\u200bo\u00adë Quill\u2060feather: duplicate'],
    ['name in wrong encoding', 'cannot create ZoÃ« Quillfeather: duplicate'],
    ['another script', 'the city 東京都 is unknown'],
    ['another script within a word', 'the city は東京都です is unknown'],
    ['codes', 'the code QX-7788-PL or key 4815 is taken, phone +49 151 5550199 is invalid'],
    ['texts', 'the value "allergic to hazelnuts" is too long'],
    ['secrets', `the token ${token} in /in/s3cretpath?token=t0kenvalue is not valid`],
    [
      'the whole request in JSON',
      JSON.stringify({ error: 'invalid request', data: person, message: JSON.stringify(person) }),
    ],
    ['the whole request as text', `invalid request: ${JSON.stringify(person)}`],
    [
      'the whole request in HTML',
      `<html><body><h1>invalid request</h1><pre>${JSON.stringify(person).replaceAll('"', '&quot;')}</pre>`,
    ],
    [
      'members whose names are data',
      '{"message":"invalid","errors":{"Zoë Quillfeather":["is not valid"],"zoe.quill@example.org":["is not valid"]}}',
    ],
    [
      'errors with the refused value',
      '{"errors":[{"message":"is not valid","value":"Zoë Quillfeather","path":"zoe.quill@example.org"}]}',
    ],
    ['token in base64', `not valid: ${Buffer.from(`user:${token}`).toString('base64')}`],
    ['a long answer', `${'invalid request '.repeat(20)}${JSON.stringify(person)}`],
    ['a word that is cut in two', `${'is invalid '.repeat(744)}abc Quillfeather`],
  ])('hides what was sent: %s', (_, body) => {
    const shown = excerptOf(body) ?? '';
    expect(shown).not.toMatch(forbidden);
    expect(shown).not.toMatch(/jordan/);
    expect(shown).toMatch(/invalid|valid|duplicate|used|unknown|taken|cannot|errors|too long/);
  });

  it('hides names, codes and numbers of people that were not sent', () => {
    expect(excerptOf('the record of Maud Gonne (AB12CD, 0301234567, 3f2a9c) is older than "maud g." of Дарья')).toBe(
      'the record of (hidden) ((hidden)) is older than (hidden) of (hidden)',
    );
  });

  it.each([
    ['nothing', ''],
    ['blanks', ' \n '],
    ['binary data', Buffer.from(Array.from({ length: 4096 }, (__, at) => (at * 7) % 256)).toString('utf8')],
    ['an image', '\u0089PNG\r\n\u001a\n\0\0\0\rIHDR\0\0'],
    ['JSON that is cut short', '{"records":[{"note":"a private remark"},{"no'],
    ['JSON without errors', '{"records":[{"note":"a private remark"}],"ok":false}'],
    ['a list of texts of nobody', '{"data":{"message":"a private remark"}}'],
    ['only what was sent', 'Zoë Quillfeather-Okonjo'],
    ['null', 'null'],
  ])('is absent for %s', (_, body) => expect(excerptOf(body)).toBeUndefined());

  it('is absent for a text that refuses nothing, because it may be a record', () => {
    expect(excerptOf('a private remark', 200)).toBeUndefined();
    expect(excerptOf('{"exception":"x","errorcode":"invalidparameter","message":"the value is invalid"}', 200)).toBe(
      '{"exception":"x","errorcode":"invalidparameter","message":"the value is invalid"}',
    );
  });

  it('is one line of at most 300 printable characters, however hostile the answer', () => {
    const bodies = [
      `invalid\u0000\u001b[31m\r\nrequest\u202e\u2066 body ${'bad value '.repeat(100_000)}`,
      'a'.repeat(1_000_000),
      '<script>'.repeat(125_000),
      '<!--'.repeat(250_000),
      'x@'.repeat(500_000),
      '"'.repeat(1_000_000),
      '1 '.repeat(500_000),
      `${'['.repeat(500)}"invalid"${']'.repeat(500)}`,
      JSON.stringify({ errors: Array.from({ length: 50_000 }, () => ({ message: 'the value is invalid\u202e\n' })) }),
    ];
    for (const body of bodies) {
      const startedMs = performance.now();
      const shown = excerptOf(body) ?? '';
      expect(performance.now() - startedMs).toBeLessThan(3000);
      expect(Array.from(shown).length).toBeLessThanOrEqual(300);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect(excerptOf(bodies[0])).toMatch(/^invalid .*request body bad value/);
  });
});
