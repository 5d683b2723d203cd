import { Secret } from '../../config/secret.js';
import { shownAddress } from '../network/shown-address.js';
import type { PreviewedCall } from '../sink.js';
import type { HttpConfig } from './config.js';
import type { Step } from './plan.js';
import type { PlannedRequest } from './write-request.js';

/** Returns the calls of a step: first the look-up, if there is one. In a batch, the body is the part of this item. Pure. */
export function previewOf({ find, request }: Step, config: Pick<HttpConfig, 'baseUrl'>): PreviewedCall[] {
  return (find === undefined ? [request] : [find, request]).map((each) => callOf(each, config));
}

function callOf({ method, url, body }: PlannedRequest, { baseUrl }: Pick<HttpConfig, 'baseUrl'>): PreviewedCall {
  const isSecret = baseUrl instanceof Secret;
  const base = shownAddress(isSecret ? baseUrl.reveal() : baseUrl, { isSecret });
  const [path = '', query] = base.split('?');
  const ownQuery = query === undefined ? '' : `${url.includes('?') ? '&' : '?'}${query}`;
  return { method, address: `${path.replace(/\/$/, '')}${url}${ownQuery}`, body: body ?? null };
}
