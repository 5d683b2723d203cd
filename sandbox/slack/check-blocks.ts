import { BlockProblems } from './block-problems.js';
import { checkRichText } from './check-rich-text.js';
import { invalidBlocks, SlackRefusal } from './slack-refusal.js';

/** https://docs.slack.dev/reference/block-kit/blocks : most blocks of one message. */
export const MAX_BLOCKS = 50;

/**
 * Not documented: all text of a message's blocks together. Messages of about 13,170 characters and more were refused
 * with `msg_blocks_too_long` (slackapi/bolt-js#2509); the double takes the lowest length seen.
 */
export const MAX_TEXT_OF_ALL_BLOCKS = 13_172;

/** Characters of all `markdown` blocks of a message together. */
const MAX_MARKDOWN = 12_000;

type Check = (block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems) => void;

/** The blocks that a message may contain, by type, and their elements; the stand-in knows no other type. */
const CHECKS: Readonly<Record<string, { readonly properties: readonly string[]; readonly check: Check }>> = {
  section: { properties: ['text', 'fields', 'accessory', 'expand'], check: checkSection },
  header: {
    properties: ['text', 'level'],
    check: (block, at, problems) => problems.text(block['text'], `${at}/text`, { max: 150, types: ['plain_text'] }),
  },
  divider: { properties: [], check: () => undefined },
  context: { properties: ['elements'], check: checkContext },
  markdown: {
    properties: ['text'],
    check: (block, at, problems) => problems.string(block['text'], `${at}/text`, { max: MAX_MARKDOWN }),
  },
  image: { properties: ['image_url', 'alt_text', 'title', 'slack_file'], check: checkImage },
  actions: {
    properties: ['elements'],
    check: checkActions,
  },
  rich_text: { properties: ['elements'], check: checkRichText },
};

/**
 * Blocks of a message by the rules of Block Kit's reference. "Characters" are counted as UTF-16 units, the stricter
 * reading: the reference does not say how an emoji counts.
 * @throws {SlackRefusal} `invalid_blocks_format`, `invalid_blocks` with a JSON pointer for each fault, or
 * `msg_blocks_too_long`
 */
export function checkBlocks(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new SlackRefusal('invalid_blocks_format');
  const problems = new BlockProblems();
  if (value.length > MAX_BLOCKS) problems.add(`no more than ${MAX_BLOCKS} items allowed`, '/blocks');
  const ids = new Set<unknown>();
  value.forEach((block: unknown, index) => checkBlock(block, `/blocks/${index}`, ids, problems));
  if (problems.found.length > 0) throw invalidBlocks(problems.found);
  const markdown = value.filter((block: { type: string }) => block.type === 'markdown');
  if (textLength(value) > MAX_TEXT_OF_ALL_BLOCKS || textLength(markdown) > MAX_MARKDOWN) {
    throw new SlackRefusal('msg_blocks_too_long');
  }
  return value;
}

function checkBlock(block: unknown, at: string, ids: Set<unknown>, problems: BlockProblems): void {
  if (!problems.object(block, at)) return;
  const known = typeof block['type'] === 'string' ? CHECKS[block['type']] : undefined;
  if (known === undefined) {
    problems.add(block['type'] === undefined ? 'missing required field: type' : 'unsupported type', `${at}/type`);
    return;
  }
  problems.onlyThese(block, ['type', 'block_id', ...known.properties], at);
  const id = block['block_id'];
  if (id !== undefined) {
    problems.string(id, `${at}/block_id`, { max: 255 });
    if (ids.has(id)) problems.add('`block_id` already exists', `${at}/block_id`);
    ids.add(id);
  }
  known.check(block, at, problems);
}

function checkSection(block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  const { text, fields } = block;
  if (text === undefined && fields === undefined) problems.add('missing required field: text', at);
  if (text !== undefined) problems.text(text, `${at}/text`, { max: 3000 });
  if (fields === undefined) return;
  problems
    .list(fields, `${at}/fields`, 10)
    .forEach((field, index) => problems.text(field, `${at}/fields/${index}`, { max: 2000 }));
}

function checkContext(block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  problems.list(block['elements'], `${at}/elements`, 10).forEach((element, index) => {
    const where = `${at}/elements/${index}`;
    if (!problems.object(element, where)) return;
    if (element['type'] === 'image') checkImage(element, where, problems);
    else problems.text(element, where, { max: 3000 });
  });
}

/** Buttons alone: no other element is sent by anything here. */
function checkActions(block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  const ids = new Set<unknown>();
  problems.list(block['elements'], `${at}/elements`, 25).forEach((element, index) => {
    const where = `${at}/elements/${index}`;
    if (!problems.object(element, where)) return;
    if (element['type'] !== 'button') {
      problems.add('unsupported type', `${where}/type`);
      return;
    }
    problems.onlyThese(element, BUTTON_PROPERTIES, where);
    problems.text(element['text'], `${where}/text`, { max: 75, types: ['plain_text'] });
    if (element['value'] !== undefined) problems.string(element['value'], `${where}/value`, { max: 2000 });
    if (element['url'] !== undefined) checkAddress(element['url'], `${where}/url`, problems);
    const { action_id: id, style } = element;
    if (style !== undefined && style !== 'primary' && style !== 'danger') {
      problems.add('must be a valid enum value', `${where}/style`);
    }
    if (id === undefined) return;
    problems.string(id, `${where}/action_id`, { max: 255 });
    if (ids.has(id)) problems.add('`action_id` already exists', `${where}/action_id`);
    ids.add(id);
  });
}

const BUTTON_PROPERTIES = ['type', 'text', 'action_id', 'url', 'value', 'style', 'confirm', 'accessibility_label'];

function checkAddress(value: unknown, at: string, problems: BlockProblems): void {
  problems.string(value, at, { max: 3000 });
  if (typeof value === 'string' && !URL.canParse(value)) problems.add('must be a valid URI', at);
}

function checkImage(image: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  if (image['slack_file'] === undefined) problems.string(image['image_url'], `${at}/image_url`, { max: 3000 });
  problems.string(image['alt_text'], `${at}/alt_text`, { max: 2000 });
  if (image['title'] !== undefined) {
    problems.text(image['title'], `${at}/title`, { max: 2000, types: ['plain_text'] });
  }
}

/** The characters of every string that stands under `text`, however deep. */
function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + textLength(entry), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, entry]) => sum + (name === 'text' && typeof entry === 'string' ? entry.length : textLength(entry)),
    0,
  );
}
