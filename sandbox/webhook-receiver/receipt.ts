import { createHash } from 'node:crypto';
import type { ReceivedChange } from './received-change.js';

/** One change that was taken, as often as it came. */
export interface Receipt {
  /** 1, 2, 3… in the order of arrival, across restarts with the same log. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** The header `webhook-id`, which is the change's id. */
  readonly id: string;
  /** Of the body's bytes, in hex. */
  readonly sha256: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly type: string;
  readonly revision: number;
  readonly sequence: number;
  /** When the sender found the change, as it says; ISO 8601, UTC. */
  readonly timestamp: string;
  /** The replay that it belongs to; null for all other changes. */
  readonly replay: string | null;
  /** What the sender was told: a status, or `dropped` when the connection was cut after this was stored. */
  readonly answer: number | 'dropped';
}

/** A line of the log: the receipt and what was received, for comparison with the truth. */
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
