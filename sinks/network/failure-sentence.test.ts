import { noAnswerSentence } from './failure-sentence.js';
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
