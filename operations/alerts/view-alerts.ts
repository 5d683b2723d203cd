import type { AlertsView } from '../../api/alerts.js';
import type { Ledger } from '../../ledger/ledger.js';
import { readAlerts } from './looks.js';
import { receiverStates } from './messages.js';
import { alertText } from './alert-text.js';
import { receiverKey } from './receivers/receiver-key.js';
import type { OpenReceiver } from './receivers/receiver.js';

/** What was told and is not over, and how the receivers of this configuration take what they are sent. */
export async function viewAlerts(ledger: Ledger, receivers: readonly OpenReceiver[]): Promise<AlertsView> {
  const keys = receivers.map((receiver) => receiverKey(ledger, receiver));
  const [rows, states] = await Promise.all([readAlerts(ledger), receiverStates(ledger, keys)]);
  return {
    raised: rows
      .filter(({ told, occasion }) => told && occasion !== 'import-ended')
      .toSorted((a, b) => a.since.getTime() - b.since.getTime())
      .map((row) => {
        const { title, todo } = alertText({ ...row, subjects: [row.subject], kind: 'raised' }, null);
        return { occasion: row.occasion, subject: row.subject, since: row.since.toISOString(), title, todo };
      }),
    receivers: receivers.map(({ name }, position) => {
      const state = states.find(({ receiver }) => receiver === keys[position]);
      return {
        receiver: name,
        waiting: state?.waiting ?? 0,
        failingSince: state?.failingSince?.toISOString() ?? null,
        failure: state?.failure ?? null,
        deliveredAt: state?.deliveredAt?.toISOString() ?? null,
      };
    }),
  };
}
