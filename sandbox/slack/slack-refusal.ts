/**
 * What Slack answers instead of doing it: `{"ok": false, "error": <code>}` with HTTP 200, as the Web API does for all
 * but a rate limit. Codes are those of the method's own page and of the errors that all methods share.
 */
export class SlackRefusal extends Error {
  override readonly name = 'SlackRefusal';

  constructor(
    readonly code: string,
    /** Further fields of the answer: `needed` and `provided`, or `response_metadata`. */
    readonly fields: Readonly<Record<string, unknown>> = {},
  ) {
    super(code);
  }
}

/** The common answer to arguments that are missing or of the wrong kind. */
export function invalidArguments(...messages: readonly string[]): SlackRefusal {
  return new SlackRefusal('invalid_arguments', {
    response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) },
  });
}

/** Blocks that break a rule of Block Kit: Slack says which in `errors` and `response_metadata.messages`. */
export function invalidBlocks(messages: readonly string[]): SlackRefusal {
  return new SlackRefusal('invalid_blocks', {
    errors: messages.map((message) => message.replace(/^\[ERROR\] /, '')),
    response_metadata: { messages },
  });
}
