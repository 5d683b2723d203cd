/**
 * The words of xAPI that statements are made of, each an IRI that LMSs and reports know.
 * Sources: ADL's verbs and activity types (w3id.org/xapi/adl, adlnet.gov/expapi), the Tin Can registry
 * (registry.tincanapi.com), and xAPI 1.0.3, Data, "Voiding" and appendix C for interactions.
 */
export const verbs = {
  attended: verb('http://adlnet.gov/expapi/verbs/attended', 'attended'),
  asked: verb('http://adlnet.gov/expapi/verbs/asked', 'asked'),
  answered: verb('http://adlnet.gov/expapi/verbs/answered', 'answered'),
  responded: verb('http://adlnet.gov/expapi/verbs/responded', 'responded'),
  voted: verb('http://id.tincanapi.com/verb/voted-up', 'up voted'),
  rated: verb('http://id.tincanapi.com/verb/rated', 'rated'),
  completed: verb('http://adlnet.gov/expapi/verbs/completed', 'completed'),
  voided: verb('http://adlnet.gov/expapi/verbs/voided', 'voided'),
} as const;

export const activityTypes = {
  meeting: 'http://adlnet.gov/expapi/activities/meeting',
  question: 'http://adlnet.gov/expapi/activities/question',
  interaction: 'http://adlnet.gov/expapi/activities/cmi.interaction',
  course: 'http://adlnet.gov/expapi/activities/course',
} as const;

/** What pigeonpost adds to a credit: the rule and its evidence. docs/sinks/xapi.md describes its members. */
export const creditExtension = 'urn:pigeonpost:xapi:credit';

function verb(id: string, display: string) {
  return { id, display: { 'en-US': display } };
}
