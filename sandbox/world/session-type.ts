/** Session types in use (an unofficial SDK of 2021 names them; the specification shows only two). */
export const SESSION_TYPES = [
  'qna',
  'poll_multiple_choice',
  'poll_quiz',
  'poll_assessment',
  'poll_word_cloud',
  'poll_open_ended',
  'survey',
  'break',
  'regular',
  'chat',
] as const;

export type SessionType = (typeof SESSION_TYPES)[number];

export function isSessionType(value: unknown): value is SessionType {
  return typeof value === 'string' && (SESSION_TYPES as readonly string[]).includes(value);
}
