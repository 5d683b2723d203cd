import { failureCode, failureSentence, failureWords, noAnswerSentence } from './failure-sentence.js';
import { CutShort } from './within-deadline.js';

describe('the message about a request without a response', () => {
  const asked = { host: 'crm.example', name: 'the CRM', timeoutMs: 1500 };

  it.each([
    [new CutShort('stopped'), 'stopped before the CRM answered'],
    [new CutShort('late'), 'crm.example did not answer within 1.5 s'],
    [Object.assign(new Error(), { code: 'ECONNRESET' }), 'crm.example closed the connection before answering'],
  ])('says %s', (error, sentence) => expect(noAnswerSentence(error, asked)).toBe(sentence));

  it('names the operation if it is known', () => {
    const sentence = noAnswerSentence(new CutShort('late'), { ...asked, what: 'chat.update' });
    expect(sentence).toBe('crm.example did not answer chat.update within 1.5 s');
  });
});

describe('the code of a failure', () => {
  it.each([
    [
      "HubSpot's rate limit for this account was exceeded (HTTP 429), request 1-2",
      'http:429',
      'answers HTTP 429 (Too Many Requests)',
    ],
    ['the receiver answered HTTP 599', 'http:599', 'answers HTTP 599'],
    [failureSentence({ code: 'ECONNREFUSED' }, 'crm.example'), 'ECONNREFUSED', 'refused the connection'],
    [failureSentence({ code: 'EPIPE' }, 'crm.example'), 'ECONNRESET', 'closed the connection before answering'],
    [
      noAnswerSentence(new CutShort('late'), { host: 'crm.example', name: 'the CRM', timeoutMs: 1500, what: 'find' }),
      'no-answer',
      'does not answer in time',
    ],
  ])('of "%s" is %s', (sentence, code, words) => {
    expect(failureCode(sentence)).toBe(code);
    expect(failureWords(code)).toBe(words);
  });

  it('is unknown if the sentence names no status and no failure of the connection', () => {
    expect(failureCode('waits for the record of Person 1 with 429 points')).toBeNull();
  });
});
