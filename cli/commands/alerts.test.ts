import { listAlerts } from './alerts.js';
import { answeringApi, listening } from './answering-api.test-kit.js';

describe('alerts list', () => {
  it('says whether each receiver accepts alerts, or that nothing was sent to it yet', async () => {
    const receiver = (name: string, more: object) => ({ receiver: name, waiting: 0, failure: null, ...more });
    const receivers = [
      receiver('slack C1', { deliveredAt: null }),
      receiver('slack C2', { deliveredAt: '2026-11-21T09:30:00.000Z' }),
      receiver('smtp a', { deliveredAt: null, failure: 'HTTP 500', waiting: 2 }),
    ];
    const api = await answeringApi(() => JSON.stringify({ raised: [], receivers }));
    const { context, lines } = listening(api.config);
    await listAlerts(context, { json: false });
    expect(lines).toEqual([
      'no open alerts',
      'slack C1: nothing sent yet',
      'slack C2: accepts alerts',
      'smtp a: HTTP 500; 2 alerts waiting',
    ]);
    await api.close();
  });
});
