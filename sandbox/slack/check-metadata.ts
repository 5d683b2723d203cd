import type { MessageMetadata } from './slack-message.js';
import { SlackRefusal } from './slack-refusal.js';

/** Slack documents that there is a limit (`metadata_too_large`) and not which; the double takes a small one. */
export const MAX_METADATA_BYTES = 8 * 1024;

/**
 * Message metadata (https://docs.slack.dev/messaging/message-metadata, types as in the SDK's MessageMetadata): an
 * alphanumeric `event_type` and a flat `event_payload` of strings, numbers, booleans, objects of these and lists of
 * such objects.
 * @throws {SlackRefusal} `invalid_metadata_format`, `invalid_metadata_schema` or `metadata_too_large`
 */
export function checkMetadata(value: unknown): MessageMetadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SlackRefusal('invalid_metadata_format');
  }
  const { event_type: type, event_payload: payload, ...others } = value as Record<string, unknown>;
  if (typeof type !== 'string' || !/^[\w.-]+$/.test(type)) throw new SlackRefusal('invalid_metadata_format');
  if (!isObject(payload) || !Object.values(payload).every(isPayloadValue) || Object.keys(others).length > 0) {
    throw new SlackRefusal('invalid_metadata_schema');
  }
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_METADATA_BYTES) throw new SlackRefusal('metadata_too_large');
  return { event_type: type, event_payload: payload };
}

function isPayloadValue(value: unknown): boolean {
  if (isScalar(value)) return true;
  if (Array.isArray(value)) return value.every((entry) => isObject(entry) && Object.values(entry).every(isScalar));
  return isObject(value) && Object.values(value).every(isScalar);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
