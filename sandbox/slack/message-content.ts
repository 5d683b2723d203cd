import { structured, textArgument, type Arguments } from './read-arguments.js';
import { checkBlocks } from './check-blocks.js';
import { checkMetadata } from './check-metadata.js';
import type { MessageMetadata } from './slack-message.js';
import { SlackRefusal } from './slack-refusal.js';

/** The content of a message in a call; undefined for fields that the call leaves out. */
export interface MessageContent {
  readonly text?: string;
  readonly blocks?: readonly unknown[];
  /** Null takes the metadata away: an empty object was sent. */
  readonly metadata?: MessageMetadata | null;
}

/**
 * The content of chat.postMessage and chat.update.
 * @throws {SlackRefusal} `no_text`, `markdown_text_conflict`, and what checkBlocks and checkMetadata refuse
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
