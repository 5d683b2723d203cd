import { escapeHtml } from '../serve/escape-html.js';

/** Renders a message as HTML: its blocks, or its text if it has none. */
export function renderContent(text: string, blocks: readonly unknown[] | undefined): string {
  if (blocks === undefined) return `<p>${renderMrkdwn(text)}</p>`;
  return blocks.map((block) => renderBlock(block as Readonly<Record<string, unknown>>)).join('');
}

function renderBlock(block: Readonly<Record<string, unknown>>): string {
  switch (block['type']) {
    case 'header':
      return `<p class="header">${renderText(block['text'])}</p>`;
    case 'section': {
      const fields = ((block['fields'] ?? []) as unknown[]).map((field) => `<span>${renderText(field)}</span>`);
      const grid = fields.length > 0 ? `<p class="fields">${fields.join('')}</p>` : '';
      return (block['text'] === undefined ? '' : `<p>${renderText(block['text'])}</p>`) + grid;
    }
    case 'context':
      return `<p class="context">${(block['elements'] as unknown[]).map(renderText).join(' ')}</p>`;
    case 'markdown':
      return `<p>${lines(escapeHtml(String(block['text'])))}</p>`;
    case 'divider':
      return '<hr>';
    case 'rich_text':
      return `<p>${renderRichText(block)}</p>`;
    case 'image':
      return `<p class="context">[image: ${escapeHtml(String(block['alt_text']))}]</p>`;
    default:
      return `<p class="context">[${escapeHtml(String(block['type']))}]</p>`;
  }
}

function renderText(value: unknown): string {
  const { type, text, alt_text: altText } = value as Readonly<Record<string, string>>;
  if (type === 'image') return `[${escapeHtml(altText ?? 'image')}]`;
  return type === 'plain_text' ? lines(escapeHtml(unescapeSlack(text ?? ''))) : renderMrkdwn(text ?? '');
}

function renderRichText(part: Readonly<Record<string, unknown>>): string {
  if (part['type'] === 'broadcast') return ping(`@${String(part['range'])}`);
  if (part['type'] === 'user' || part['type'] === 'usergroup') return ping('@mention');
  const { text, url, name } = part as Readonly<Record<string, string | undefined>>;
  const own = text ?? url ?? (name === undefined ? '' : `:${name}:`);
  const inner = ((part['elements'] ?? []) as Readonly<Record<string, unknown>>[]).map(renderRichText).join('');
  return lines(escapeHtml(own)) + inner;
}

/**
 * Slack's markup, as far as it matters here: text in angle brackets is live. A mention that would ring is shown
 * as such, for it must never come from what an audience wrote.
 */
function renderMrkdwn(text: string): string {
  return text
    .split(/(<[^<>]*>)/)
    .map((part) => {
      const inside = /^<([^<>]*)>$/.exec(part)?.[1];
      if (inside === undefined) return lines(escapeHtml(unescapeSlack(part)).replace(/\*([^*\n]+)\*/g, '<b>$1</b>'));
      const [target = '', label] = inside.split('|');
      if (/^[!@]/.test(target)) return ping(target.replace(/^[!@]+/, '@'));
      return `<span class="link">${escapeHtml(unescapeSlack(label ?? target))}</span>`;
    })
    .join('');
}

function ping(who: string): string {
  return `<span class="ping" title="everyone named is notified">${escapeHtml(who)}</span>`;
}

function lines(html: string): string {
  return html.replaceAll('\n', '<br>');
}

/** The three entities that Slack decodes for display in text objects of either type. Source: docs.slack.dev, "Escaping text". */
function unescapeSlack(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
