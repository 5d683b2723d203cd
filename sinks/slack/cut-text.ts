const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ellipsis = '…';

/**
 * A text as Slack wants it, within a limit: `&`, `<` and `>` as entities, which stops mentions and links, control
 * characters but line break and tab left out, halves of characters replaced. Cut between whole characters as people
 * see them, with an ellipsis. The limit is counted after escaping and in UTF-16 units, so that it holds however Slack
 * counts. Source: docs.slack.dev, "Formatting message text", escaping.
 */
export function slackText(text: string, limit: number): string {
  const clean = withoutControls(wellFormed(text));
  const whole = escaped(clean);
  if (whole.length <= limit) return whole;
  let kept = '';
  for (const { segment } of segmenter.segment(clean)) {
    const next = escaped(segment);
    if (kept.length + next.length > limit - ellipsis.length) break;
    kept += next;
  }
  return `${kept}${ellipsis}`;
}

/** Halves of characters, which no UTF-8 can carry, replaced. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is meant
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}
