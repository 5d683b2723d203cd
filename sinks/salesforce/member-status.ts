import type { MemberStage } from './operation.js';

export interface PresentMember {
  readonly status: string;
  readonly hasResponded: boolean;
}

/**
 * Returns the new status of a membership; null if the status stays. Pure. A status never changes back from attended to
 * registered. If a user set a status that counts as a response, a status that does not count as one does not replace
 * it.
 * @param present the present membership; null if there is none yet
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
