import { structured, textArgument, type Arguments, SlackRefusal } from './slack-call.js';
import { checkBlocks } from './check-blocks.js';
import type { MessageMetadata } from './slack-channel.js';

/** The content of a message in a call. Fields that the call omits are undefined. */
interface MessageContent {
  readonly text?: string;
  readonly blocks?: readonly unknown[];
  /** Null, sent as an empty object, removes the metadata. */
  readonly metadata?: MessageMetadata | null;
}

/**
 * Reads the content of chat.postMessage and chat.update.
 * @throws {SlackRefusal} `no_text`, `markdown_text_conflict`, and the errors of checkBlocks and checkMetadata
 */
export function readContent(args: Arguments): MessageContent {
  const text = textArgument(args, 'text') ?? textArgument(args, 'markdown_text');
  const blocks = structured(args['blocks'], () => new SlackRefusal('invalid_blocks_format'));
  const attachments = structured(args['attachments'], () => new SlackRefusal('invalid_attachments'));
  const metadata = structured(args['metadata'], () => new SlackRefusal('invalid_metadata_format'));
  if (args['markdown_text'] !== undefined && (args['text'] !== undefined || blocks !== undefined)) {
    throw new SlackRefusal('markdown_text_conflict');
  }
  if (text === undefined && blocks === undefined && attachments === undefined && metadata === undefined) {
    throw new SlackRefusal('no_text');
  }
  return {
    ...(text !== undefined && { text }),
    ...(blocks !== undefined && { blocks: checkBlocks(blocks) }),
    ...(metadata !== undefined && { metadata: isEmptyObject(metadata) ? null : checkMetadata(metadata) }),
  };
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** Slack documents the error `metadata_too_large` but not the limit, so the stand-in uses a small one. */
const MAX_METADATA_BYTES = 8 * 1024;

/**
 * Checks message metadata (https://docs.slack.dev/messaging/message-metadata, types as in the SDK's MessageMetadata):
 * an alphanumeric `event_type` and a flat `event_payload` of strings, numbers, booleans, objects of these and lists of
 * such objects.
 * @throws {SlackRefusal} `invalid_metadata_format`, `invalid_metadata_schema` or `metadata_too_large`
 */
function checkMetadata(value: unknown): MessageMetadata {
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
