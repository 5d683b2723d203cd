import { changeJson } from '../change.js';
import type { Operation, Subject } from '../sink.js';

export interface WebhookOperation extends Operation {
  /** Operations with the same key are sent one after the other. */
  readonly itemKey: string;
  /** The request's body, made once: signature and repeats use these same characters. */
  readonly body: string;
}

/** The request that carries one change. */
export function toWebhookOperation({ change, dataJson }: Subject): WebhookOperation {
  return {
    changeId: change.id,
    itemKey: JSON.stringify([change.workspace, change.pigeonholeId, change.list, change.key]),
    body: changeJson(change, dataJson),
  };
}
