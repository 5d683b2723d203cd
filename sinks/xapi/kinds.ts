/** What statements there are of what an audience does, each with the list that it is read from. */
export const statementKinds = {
  attended: ['attendees'],
  // and not `questions`: the same questions, but without a word on whether their author wanted to be known
  asked: ['qna-questions'],
  answered: ['poll-mcq-votes', 'poll-quiz-votes'],
  responded: ['answers'],
  voted: ['votes'],
  rated: ['answer_ratings'],
} as const;

export type StatementKind = keyof typeof statementKinds;

export const kindNames = Object.keys(statementKinds) as [StatementKind, ...StatementKind[]];

/** The list of counts that credit is given by. */
export const engagementList = 'engagement';

/** The kind of statement that a list's items become; undefined: none. */
export function kindOf(list: string): StatementKind | undefined {
  return kindNames.find((kind) => (statementKinds[kind] as readonly string[]).includes(list));
}
