import type { MemberStage } from './operation.js';

export interface PresentMember {
  readonly status: string;
  readonly hasResponded: boolean;
}

/**
 * The status that a membership is given; null: it stays. Pure. Nobody is taken back from attended to registered, and
 * a status that counts as a response and that somebody else gave is not replaced by one that does not.
 * @param present null: there is no membership yet
 * @param responds whether a status counts as a response in this campaign
 */
export function decideMemberStatus(
  present: PresentMember | null,
  stage: MemberStage,
  status: Readonly<Record<MemberStage, string>>,
  responds: (label: string) => boolean,
): string | null {
  const wanted = status[stage];
  if (present === null) return wanted;
  if (present.status === wanted || present.status === status.attended) return null;
  if (present.hasResponded && !responds(wanted)) return null;
  return wanted;
}
