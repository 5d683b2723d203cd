import { randomUUID } from 'node:crypto';
import { changeJson } from '../change.js';
import type { Operation, Subject } from '../sink.js';

export interface WebhookOperation extends Operation {
  /** Operations with the same key are sent one after the other. */
  readonly itemKey: string;
  /** The request's body, made once: signature and repeats use these same characters. */
  readonly body: string;
}

/**
 * Returns the request of a test: an event of a type of its own, in the form that Standard Webhooks recommends (`type`,
 * `timestamp`, `data`). It has no `list` and no `key`, so a receiver cannot take it for a change.
 */
export function testOperation(now: number): WebhookOperation {
  const id = randomUUID();
  const data = { message: 'A test from pigeonpost. It is about no item and no person.' };
  const body = JSON.stringify({ id, type: 'pigeonpost.test', timestamp: new Date(now).toISOString(), data });
  return { changeId: id, itemKey: id, body };
}

/** The request that carries one change. */
export function toWebhookOperation({ change, dataJson }: Subject): WebhookOperation {
  return {
    changeId: change.id,
    itemKey: JSON.stringify([change.workspace, change.pigeonholeId, change.list, change.key]),
    body: changeJson(change, dataJson),
  };
}
