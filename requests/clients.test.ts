import { loadText, smallestEnvironment, smallestWith } from '../config/load-text.test-kit.js';
import { collection, startService, type TestService } from '../pigeonhole/service.test-kit.js';
import { createWorkspaceClient } from './clients.js';

const megabyte = 1024 * 1024;
let service: TestService;
let answerBytes: number;

beforeAll(async () => {
  service = await startService((_, response) => {
    const body = JSON.stringify(collection([{ id: 1 }]));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body.padEnd(answerBytes)); // blanks after the JSON count for the size and are valid JSON
  });
});
afterAll(() => service.close());

/** Requests a page of this size with a client of this configuration. Returns the number of items, or the error's message. */
async function answerOf(bytes: number, network: string): Promise<string> {
  answerBytes = bytes;
  const text = smallestWith({ append: network }).replace('https://engagement.example.com', service.baseUrl);
  const client = createWorkspaceClient(await loadText(text, smallestEnvironment), 'acme');
  try {
    const { items } = await client.page({ list: 'attendees', pigeonholeId: 101 });
    return `${items.length} read`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.close();
  }
}

const refused = /^[^\n]*the answer is larger than `network\.maxAnswerMb` allows[^\n]*$/;

describe('the client of a workspace', () => {
  it('reads a response of up to 8 MB, and refuses a larger one with one sentence', async () => {
    expect(await answerOf(8 * megabyte, '')).toBe('1 read');
    expect(await answerOf(8 * megabyte + 1, '')).toMatch(refused);
  });

  it('has the limit that network.maxAnswerMb sets, smaller or larger', async () => {
    const limit = (megabytes: number): string => `network: { maxAnswerMb: ${megabytes} }`;
    expect(await answerOf(megabyte, limit(1))).toBe('1 read');
    expect(await answerOf(megabyte + 1, limit(1))).toMatch(refused);
    expect(await answerOf(12 * megabyte, limit(12))).toBe('1 read');
    expect(await answerOf(12 * megabyte + 1, limit(12))).toMatch(refused);
  });
});
