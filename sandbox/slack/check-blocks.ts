import { isObject } from '../json.js';
import { invalidBlocks, SlackRefusal } from './slack-call.js';

/** Maximum number of blocks in a message (https://docs.slack.dev/reference/block-kit/blocks). */
const MAX_BLOCKS = 50;

/**
 * Maximum number of characters in all blocks of a message. Not documented: messages of about 13,170 characters and more
 * were refused with `msg_blocks_too_long` (slackapi/bolt-js#2509). The stand-in uses the shortest length observed.
 */
const MAX_TEXT_OF_ALL_BLOCKS = 13_172;

type Check = (block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems) => void;

/** The supported block types with their properties: those that our sink sends. */
const CHECKS: Readonly<Record<string, { readonly properties: readonly string[]; readonly check: Check }>> = {
  section: { properties: ['text', 'accessory', 'expand'], check: checkSection },
  header: {
    properties: ['text', 'level'],
    check: (block, at, problems) => problems.text(block['text'], `${at}/text`, { max: 150, types: ['plain_text'] }),
  },
  divider: { properties: [], check: () => undefined },
  context: { properties: ['elements'], check: checkContext },
  actions: {
    properties: ['elements'],
    check: checkActions,
  },
  rich_text: { properties: ['elements'], check: checkRichText },
};

/**
 * Checks blocks by the rules of Block Kit's reference. Counts characters as UTF-16 units, the stricter interpretation,
 * because the reference does not say how an emoji counts.
 * @throws {SlackRefusal} `invalid_blocks_format`, `invalid_blocks` with a JSON pointer for each problem, or
 *   `msg_blocks_too_long`
 */
export function checkBlocks(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new SlackRefusal('invalid_blocks_format');
  const problems = new BlockProblems();
  if (value.length > MAX_BLOCKS) problems.add(`no more than ${MAX_BLOCKS} items allowed`, '/blocks');
  const ids = new Set<unknown>();
  value.forEach((block: unknown, index) => checkBlock(block, `/blocks/${index}`, ids, problems));
  if (problems.found.length > 0) throw invalidBlocks(problems.found);
  if (textLength(value) > MAX_TEXT_OF_ALL_BLOCKS) throw new SlackRefusal('msg_blocks_too_long');
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
  if (block['text'] === undefined) problems.add('missing required field: text', at);
  else problems.text(block['text'], `${at}/text`, { max: 3000 });
}

function checkContext(block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  problems.list(block['elements'], `${at}/elements`, 10).forEach((element, index) => {
    problems.text(element, `${at}/elements/${index}`, { max: 3000 });
  });
}

/** Checks an actions block. Supports only buttons, because our sink sends no other element. */
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

/** Returns the total length of all strings in properties named `text`, at any depth. */
function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + textLength(entry), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, entry]) => sum + (name === 'text' && typeof entry === 'string' ? entry.length : textLength(entry)),
    0,
  );
}

/** Collects the problems of blocks, with Slack's wording and JSON pointers. */
class BlockProblems {
  readonly found: string[] = [];

  add(problem: string, pointer: string): void {
    this.found.push(`[ERROR] ${problem} [json-pointer:${pointer}]`);
  }

  object(value: unknown, at: string): value is Readonly<Record<string, unknown>> {
    if (isObject(value)) return true;
    this.add('must be an object', at);
    return false;
  }

  /** Returns the elements of a list; none if the value is not a list. */
  list(value: unknown, at: string, maxItems: number): readonly unknown[] {
    if (!Array.isArray(value)) {
      this.add('must provide an array', at);
      return [];
    }
    if (value.length === 0) this.add('must have at least 1 item', at);
    if (value.length > maxItems) this.add(`no more than ${maxItems} items allowed`, at);
    return value;
  }

  string(value: unknown, at: string, { max }: { readonly max: number }): void {
    if (value === undefined) this.add('missing required field', at);
    else if (typeof value !== 'string') this.add('must be a string', at);
    else if (value.length === 0) this.add('must be more than 0 characters', at);
    else if (value.length > max) this.add(`must be less than ${max + 1} characters`, at);
  }

  /** Checks a text object: `plain_text` with optional `emoji`, or `mrkdwn` with optional `verbatim`. */
  text(value: unknown, at: string, { max, types }: { readonly max: number; readonly types?: readonly string[] }): void {
    if (value === undefined) {
      this.add('missing required field', at);
      return;
    }
    if (!this.object(value, at)) return;
    const type = String(value['type']);
    if (!(types ?? ['plain_text', 'mrkdwn']).includes(type)) {
      this.add('unsupported type', `${at}/type`);
      return;
    }
    this.onlyThese(value, ['type', 'text', type === 'plain_text' ? 'emoji' : 'verbatim'], at);
    this.string(value['text'], `${at}/text`, { max });
  }

  onlyThese(value: Readonly<Record<string, unknown>>, properties: readonly string[], at: string): void {
    for (const property of Object.keys(value)) {
      if (!properties.includes(property)) this.add(`invalid additional property: ${property}`, at);
    }
  }
}

/** Elements of a section and the required field of each. `style` (formatting) is not checked. */
const INLINE: Readonly<Record<string, string>> = {
  text: 'text',
  link: 'url',
  emoji: 'name',
  user: 'user_id',
  usergroup: 'usergroup_id',
  channel: 'channel_id',
  broadcast: 'range',
  date: 'timestamp',
  color: 'value',
};

/** Checks a `rich_text` block of sections (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block). */
function checkRichText(block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  problems.list(block['elements'], `${at}/elements`, Number.POSITIVE_INFINITY).forEach((section, index) => {
    const where = `${at}/elements/${index}`;
    if (!problems.object(section, where)) return;
    const elements: unknown = section['elements'];
    if (section['type'] !== 'rich_text_section') problems.add('unsupported type', `${where}/type`);
    else if (!Array.isArray(elements)) problems.add('missing required field: elements', where);
    else elements.forEach((element: unknown, place) => checkInline(element, `${where}/elements/${place}`, problems));
  });
}

function checkInline(element: unknown, at: string, problems: BlockProblems): void {
  if (!problems.object(element, at)) return;
  const needed = INLINE[String(element['type'])];
  if (needed === undefined) {
    problems.add('unsupported type', `${at}/type`);
    return;
  }
  const value = element[needed];
  if (element['type'] === 'link' && typeof value === 'string' && !URL.canParse(value)) {
    problems.add('must be a valid URI', `${at}/url`);
  }
  if (element['type'] === 'usergroup' && !/^S[A-Z0-9]{7,11}$/.test(String(value))) {
    problems.add('must match the pattern of a user group', `${at}/usergroup_id`);
  }
  if (value === undefined || value === '') problems.add(`missing required field: ${needed}`, at);
}
