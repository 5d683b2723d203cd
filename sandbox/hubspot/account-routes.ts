import type { DoubleAnswer } from '../serve/double-request.js';
import { jsonBody, requiredText, type Call, type Route } from './call.js';
import { notFound } from './hubspot-refusal.js';

const anyToken = (): undefined => undefined;
/** Documented: the specification of "Account Info" names this scope; a service key may be without it. */
const oauthScope = (): readonly string[] => ['oauth'];

/** Routes for a token's scopes, its account, and the use of the day's limit. */
export const accountRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/account-info\/v3\/details$/, scopes: oauthScope, answer: details },
  { method: 'GET', path: /^\/account-info\/v3\/api-usage\/daily\/private-apps$/, scopes: oauthScope, answer: usage },
  { method: 'POST', path: /^\/oauth\/v2\/private-apps\/get\/access-token-info$/, scopes: anyToken, answer: tokenInfo },
];

function details({ account }: Call): DoubleAnswer {
  return {
    status: 200,
    json: {
      portalId: account.portalId,
      accountType: 'STANDARD',
      timeZone: account.timeZone,
      uiDomain: 'app.hubspot.com',
    },
  };
}

function usage({ account }: Call): DoubleAnswer {
  const nowMs = account.now();
  return {
    status: 200,
    json: {
      results: [
        {
          name: 'private-apps-api-calls-daily',
          ...account.limits.usage(nowMs),
          collectedAt: new Date(nowMs).toISOString(),
          fetchStatus: 'SUCCESS',
        },
      ],
    },
  };
}

function tokenInfo(call: Call): DoubleAnswer {
  const scopes = call.account.tokens.get(requiredText(jsonBody(call), 'tokenKey'));
  // (A) A service key belongs to no private app.
  if (scopes === undefined || call.account.profile === 'freshAccount') throw notFound('No private app has this token');
  return { status: 200, json: { userId: 1, hubId: call.account.portalId, appId: 1, scopes } };
}
