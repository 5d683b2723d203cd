import { checkBlocks } from './check-blocks.js';
import { SlackRefusal } from './slack-call.js';

const plain = (length: number): object => ({ type: 'plain_text', text: 'x'.repeat(length) });
const section = (length: number): object => ({ type: 'section', text: plain(length) });

describe('blocks for the Slack double', () => {
  it.each([
    ['a section of 3000 characters', [section(3000)]],
    ['fifty blocks', Array.from({ length: 50 }, () => ({ type: 'divider' }))],
    ['a header of 150', [{ type: 'header', text: plain(150) }]],
    ['a context', [{ type: 'context', elements: [plain(5), { type: 'mrkdwn', text: '*x*' }] }]],
    [
      'rich text',
      [
        {
          type: 'rich_text',
          elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'hello', style: { bold: true } }] }],
        },
      ],
    ],
  ])('are accepted: %s', (_, blocks) => {
    expect(checkBlocks(blocks)).toBe(blocks);
  });

  it.each([
    ['51 blocks', Array.from({ length: 51 }, () => ({ type: 'divider' })), 'no more than 50 items allowed', '/blocks'],
    ['a section of 3001', [section(3001)], 'must be less than 3001 characters', '/blocks/0/text/text'],
    ['an empty section text', [section(0)], 'must be more than 0 characters', '/blocks/0/text/text'],
    [
      'a header of 151',
      [{ type: 'header', text: plain(151) }],
      'must be less than 151 characters',
      '/blocks/0/text/text',
    ],
    [
      'markup in a header',
      [{ type: 'header', text: { type: 'mrkdwn', text: 'x' } }],
      'unsupported type',
      '/blocks/0/text/type',
    ],
    ['a section with nothing', [{ type: 'section' }], 'missing required field: text', '/blocks/0'],
    ['a text that is a string', [{ type: 'section', text: 'x' }], 'must be an object', '/blocks/0/text'],
    ['an unknown property', [{ type: 'divider', colour: 'red' }], 'invalid additional property: colour', '/blocks/0'],
    [
      'emoji in markup',
      [{ type: 'section', text: { type: 'mrkdwn', text: 'x', emoji: true } }],
      'invalid additional property: emoji',
      '/blocks/0/text',
    ],
    ['an unknown type', [{ type: 'poll' }], 'unsupported type', '/blocks/0/type'],
    [
      'a block id of 256',
      [{ type: 'divider', block_id: 'x'.repeat(256) }],
      'must be less than 256 characters',
      '/blocks/0/block_id',
    ],
    [
      'a block id twice',
      [
        { type: 'divider', block_id: 'a' },
        { type: 'divider', block_id: 'a' },
      ],
      '`block_id` already exists',
      '/blocks/1/block_id',
    ],
    [
      'rich text of an unknown part',
      [{ type: 'rich_text', elements: [{ type: 'text', text: 'x' }] }],
      'unsupported type',
      '/blocks/0/elements/0/type',
    ],
    [
      'rich text with an empty text',
      [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: '' }] }] }],
      'missing required field: text',
      '/blocks/0/elements/0/elements/0',
    ],
  ])('are refused with the position of the problem: %s', (_, blocks, problem, pointer) => {
    expect(refusalOf(blocks)).toMatchObject({
      code: 'invalid_blocks',
      fields: { response_metadata: { messages: [`[ERROR] ${problem} [json-pointer:${pointer}]`] } },
    });
  });

  it.each([
    [
      'sections whose texts are too long together',
      Array.from({ length: 5 }, () => section(3000)),
      'msg_blocks_too_long',
    ],
    ['a value that is not a list', { type: 'divider' }, 'invalid_blocks_format'],
  ])('are refused: %s', (_, blocks, code) => {
    expect(refusalOf(blocks).code).toBe(code);
  });
});

function refusalOf(blocks: unknown): SlackRefusal {
  try {
    checkBlocks(blocks);
  } catch (error) {
    if (error instanceof SlackRefusal) return error;
  }
  throw new Error('the blocks were taken');
}
