import { ExitCode } from '../exit-code.js';
import { auditLog } from './access.js';
import { answeringApi, listening } from './answering-api.test-kit.js';

it('lists audited requests with their result, and with the status of those that were refused', async () => {
  const entry = { at: '2026-11-26T10:00:00Z', who: 'ada', action: 'alerts-test', target: null, detail: {} };
  const items = [
    { ...entry, outcome: 'done', status: 200 },
    { ...entry, outcome: 'failed', status: 200 }, // answered, but the message was not delivered
    { ...entry, outcome: 'refused', status: 403 },
    { ...entry, outcome: null, status: null },
  ];
  const api = await answeringApi(() => JSON.stringify({ items, next: null }));
  const { context, lines } = listening(api.config);
  expect(await auditLog(context, { limit: 100, json: false })).toBe(ExitCode.Done);
  await api.close();
  expect(lines.map((line) => line.split('  ').at(-1))).toEqual(['done', 'failed', 'refused (403)', 'result unknown']);
});
