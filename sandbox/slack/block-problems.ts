/** Collects what is wrong with blocks, in the words and with the JSON pointers that Slack uses. */
export class BlockProblems {
  readonly found: string[] = [];

  add(problem: string, pointer: string): void {
    this.found.push(`[ERROR] ${problem} [json-pointer:${pointer}]`);
  }

  object(value: unknown, at: string): value is Readonly<Record<string, unknown>> {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return true;
    this.add('must be an object', at);
    return false;
  }

  /** The list's elements; none when it is not a list. */
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

  /** A text object: `plain_text` (which may have `emoji`) or `mrkdwn` (which may have `verbatim`). */
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
