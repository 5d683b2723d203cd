import type { BlockProblems } from './block-problems.js';

/** Elements of a section, with their required fields. `style` (formatting) is not checked. */
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

/** A `rich_text` block: sections, lists, quotes and preformatted text (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block). */
export function checkRichText(block: Readonly<Record<string, unknown>>, at: string, problems: BlockProblems): void {
  problems.list(block['elements'], `${at}/elements`, Number.POSITIVE_INFINITY).forEach((element, index) => {
    checkPart(element, `${at}/elements/${index}`, problems, [
      'rich_text_section',
      'rich_text_list',
      'rich_text_preformatted',
      'rich_text_quote',
    ]);
  });
}

function checkPart(part: unknown, at: string, problems: BlockProblems, allowed: readonly string[]): void {
  if (!problems.object(part, at)) return;
  const type = String(part['type']);
  if (!allowed.includes(type)) {
    problems.add('unsupported type', `${at}/type`);
    return;
  }
  if (type === 'rich_text_list' && part['style'] !== 'bullet' && part['style'] !== 'ordered') {
    problems.add('must be a valid enum value', `${at}/style`);
  }
  if (!Array.isArray(part['elements'])) {
    problems.add('missing required field: elements', at);
    return;
  }
  part['elements'].forEach((element: unknown, index) => {
    const where = `${at}/elements/${index}`;
    if (type === 'rich_text_list') checkPart(element, where, problems, ['rich_text_section']);
    else checkInline(element, where, problems);
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
