import { createHash } from 'node:crypto';
import type { ReceivedChange } from './received-change.js';

/** One accepted request. A change that is sent again has a receipt for each request. */
export interface Receipt {
  /** 1, 2, 3… in the order of arrival, across restarts with the same log. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** The header `webhook-id`, which is the change's id. */
  readonly id: string;
  /** SHA-256 of the body, in hex. */
  readonly sha256: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly type: string;
  readonly revision: number;
  readonly sequence: number;
  /** The change's timestamp: when the sender found it. ISO 8601, UTC. */
  readonly timestamp: string;
  /** The replay that the change belongs to, or null. */
  readonly replay: string | null;
  /** The status of the answer, or `dropped` if the connection was closed after the receipt was stored. */
  readonly answer: number | 'dropped';
}

/** A line of the log: the receipt and the change, for comparison with the truth. */
export interface LoggedReceipt extends Receipt {
  readonly change: ReceivedChange;
}

export interface Arrival {
  readonly number: number;
  readonly receivedAt: Date;
  readonly body: Buffer;
  readonly change: ReceivedChange;
  readonly answer: number | 'dropped';
}

export function receiptOf({ number, receivedAt, body, change, answer }: Arrival): Receipt {
  const { id, workspace, pigeonholeId, list, key, type, revision, sequence, timestamp } = change;
  return {
    number,
    receivedAt: receivedAt.toISOString(),
    id,
    sha256: createHash('sha256').update(body).digest('hex'),
    workspace,
    pigeonholeId,
    list,
    key,
    type,
    revision,
    sequence,
    timestamp,
    replay: change.replay ?? null,
    answer,
  };
}
