import { escapeHtml, livePage } from '../serve/live-page.js';
import type { SlackMessage, SlackState } from './slack-workspace.js';

/** Maximum number of threads shown per channel; those with the newest messages are shown. */
const MAX_THREADS = 100;
/** Maximum number of replies shown per thread; the newest are shown. */
const MAX_REPLIES = 12;

/** Renders the workspace as a person would see it: channels with their threads, latest activity first. */
export function slackPage(state: SlackState): string {
  return livePage({
    title: `Slack: ${state.team}`,
    note: 'a stand-in for a workspace: what an app posts here is shown as people would see it',
    barColor: '#4a154b',
    main: `<div class="channels">${state.channels.map(channelHtml).join('\n')}</div>
<section class="limits"><h2>Rate limits</h2>${limitsHtml(state)}</section>`,
    style: STYLE,
  });
}

function channelHtml(channel: SlackState['channels'][number]): string {
  const threads = channel.messages.toSorted((a, b) => lastTs(b).localeCompare(lastTs(a))).slice(0, MAX_THREADS);
  const replies = channel.messages.reduce((sum, message) => sum + message.replies.length, 0);
  const marks = [
    channel.isPrivate && 'private',
    channel.isArchived && 'archived',
    !channel.isMember && 'app not in it',
  ];
  return `<section>
<h2># ${escapeHtml(channel.name)} <small>${[channel.id, ...marks.filter(Boolean)].join(' · ')}</small></h2>
<p class="count">${counted(channel.messages.length, 'message')}, ${counted(replies, 'reply', 'replies')}</p>
${threads.length === 0 ? '<p class="empty">Nothing was posted yet.</p>' : threads.map(threadHtml).join('\n')}
</section>`;
}

function threadHtml(message: SlackState['channels'][number]['messages'][number]): string {
  const replies = message.replies.slice(-MAX_REPLIES).map(messageHtml).join('\n');
  const hidden = message.replies.length - MAX_REPLIES;
  const earlier = hidden > 0 ? `<p class="earlier">${counted(hidden, 'earlier reply', 'earlier replies')}</p>` : '';
  return `<article>${messageHtml(message)}${replies === '' ? '' : `<div class="replies">${earlier}${replies}</div>`}</article>`;
}

/** Returns the newest ts of a thread. All have the same number of digits, so they can be compared as texts. */
function lastTs({ ts, replies }: SlackState['channels'][number]['messages'][number]): string {
  return replies.at(-1)?.ts ?? ts;
}

function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

function messageHtml(message: SlackMessage): string {
  const author = message.tombstone === true ? 'Slackbot' : message.bot === null ? 'incoming webhook' : 'pigeonpost';
  const time = new Date(message.postedAtMs).toISOString().slice(11, 19);
  return `<div class="message${message.tombstone === true ? ' gone' : ''}" id="m${message.ts}">
<span class="avatar">${author.slice(0, 1).toUpperCase()}</span>
<div><b>${author}</b> <small class="app">APP</small> <time title="ts ${message.ts}">${time}</time>
${renderContent(message.text, message.blocks)}${message.edits > 0 ? '<small class="edited">(edited)</small>' : ''}</div>
</div>`;
}

function limitsHtml(state: SlackState): string {
  const rows = Object.entries(state.limits).map(
    ([name, use]) =>
      `<tr${use.refused > 0 ? ' class="bad"' : ''}><td>${escapeHtml(name)}</td><td>${use.calls}</td>` +
      `<td>${use.maxPerSecond}</td><td>${use.maxPerMinute}</td><td>${use.refused}</td></tr>`,
  );
  if (rows.length === 0) return '<p class="empty">No calls yet.</p>';
  return `<table><tr><th>limit</th><th>calls</th><th>most in 1 s</th><th>most in 60 s</th><th>refused</th></tr>${rows.join('')}</table>`;
}

const STYLE = `
.channels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.5rem; }
.context { color: var(--dim); font-size: .8rem; }
.count { margin: 0 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .5rem; }
article { max-width: 60rem; border-bottom: 1px solid var(--line); padding: .5rem 0; }
.message { display: flex; gap: .6rem; padding: .25rem 0; overflow-wrap: anywhere; }
.message p { margin: .1rem 0; }
.avatar { flex: none; width: 2rem; height: 2rem; border-radius: .4rem; background: #4a154b; color: #fff; display: grid; place-items: center; font-weight: 600; }
.replies { margin-left: 1rem; padding-left: 1rem; border-left: 2px solid var(--line); }
.replies .avatar { width: 1.5rem; height: 1.5rem; font-size: .8rem; }
.earlier { margin: .2rem 0 .4rem; color: var(--dim); font-size: .8rem; }
.app { border: 1px solid var(--line); border-radius: .2rem; padding: 0 .2rem; font-size: .65rem; }
.header { font-weight: 700; }
.gone { color: var(--dim); font-style: italic; }
.link { color: var(--link); }
.ping { background: var(--warn); border-radius: .2rem; padding: 0 .2rem; font-weight: 600; }
hr { border: 0; border-top: 1px solid var(--line); }
.bad td { font-weight: 700; }
`;

/** Renders a message as HTML: its blocks, or its text if it has none. */
function renderContent(text: string, blocks: readonly unknown[] | undefined): string {
  if (blocks === undefined) return `<p>${renderMrkdwn(text)}</p>`;
  return blocks.map((block) => renderBlock(block as Readonly<Record<string, unknown>>)).join('');
}

function renderBlock(block: Readonly<Record<string, unknown>>): string {
  switch (block['type']) {
    case 'header':
      return `<p class="header">${renderText(block['text'])}</p>`;
    case 'section':
      return `<p>${renderText(block['text'])}</p>`;
    case 'context':
      return `<p class="context">${(block['elements'] as unknown[]).map(renderText).join(' ')}</p>`;
    case 'divider':
      return '<hr>';
    case 'rich_text':
      return `<p>${renderRichText(block)}</p>`;
    default:
      return `<p class="context">[${escapeHtml(String(block['type']))}]</p>`;
  }
}

function renderText(value: unknown): string {
  const { type, text } = value as Readonly<Record<string, string>>;
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
 * Renders Slack's markup: text in angle brackets is live. Highlights mentions that would notify people, because texts
 * of an audience must never contain one.
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
  return `<span class="ping" title="notifies everyone named">${escapeHtml(who)}</span>`;
}

function lines(html: string): string {
  return html.replaceAll('\n', '<br>');
}

/** Decodes the three entities that Slack decodes in text objects. Source: docs.slack.dev, "Escaping text". */
function unescapeSlack(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
