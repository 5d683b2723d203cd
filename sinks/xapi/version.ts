import { fieldsOf } from '../fields-of.js';

/** What `X-Experience-API-Version` says. 1.0.3 where nothing is known: most LRSs accept it. */
export type XapiVersion = '1.0.3' | '2.0.0';

/**
 * Returns the version to speak, from an answer of the About resource; undefined: the LRS names none that is known here.
 * An LRS of both is spoken to in 1.0.3, so that what it holds already and what is added have one version. The statements
 * are the same: their timestamps are UTC, which 2.0 requires.
 * Sources: xAPI 1.0.3, Communication, 2.8 "About Resource" and 3.3 "Versioning"; for 2.0 (IEEE 9274.1.1)
 * adlnet/lrs-conformance-test-suite, test/v2_0 (About Resource, Versioning).
 */
export function versionIn(about: unknown): XapiVersion | undefined {
  const { version } = fieldsOf(about);
  const known = Array.isArray(version) ? version.filter((each): each is string => typeof each === 'string') : [];
  if (known.some((each) => /^1\.0(\.\d+)?$/.test(each))) return '1.0.3';
  return known.some((each) => /^2\.0(\.\d+)?$/.test(each)) ? '2.0.0' : undefined;
}
