import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/state-page.js';
import { answerRequest } from './answer-request.js';
import { salesforceFault } from './salesforce-faults.js';
import { SalesforceOrg, type SalesforceOptions } from './salesforce-org.js';

export interface SalesforceDouble extends RunningDouble {
  /**
   * The org behind the API: to seed, convert and merge records, to end sessions, to refuse records, and to inspect.
   */
  readonly org: SalesforceOrg;
}

/**
 * Starts a Salesforce org on loopback, login host and instance in one, held in memory. The README of this folder lists
 * its rules.
 */
export async function startSalesforceDouble(options: SalesforceOptions & ServeOptions = {}): Promise<SalesforceDouble> {
  const org = new SalesforceOrg(options);
  let instanceUrl = options.instanceUrl ?? '';
  const running = await serveDouble(
    {
      answer: (request) => answerRequest(org, request, instanceUrl),
      state: () => stateOf(org),
      page: () => pageOf(org),
      namedFaults: salesforceFault,
      files: org.privateKey === undefined ? {} : { '/_double/private-key.pem': org.privateKey },
    },
    options,
  );
  instanceUrl ||= running.url;
  return { ...running, org };
}

/** Live records by object, without the fields that are empty. */
function stateOf({ org }: SalesforceOrg): Record<string, Record<string, unknown>[]> {
  return Object.fromEntries(
    org.types.map((type) => [
      type.name,
      org
        .all(type)
        .map(({ values }) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))),
    ]),
  );
}

function pageOf(org: SalesforceOrg): string {
  const tables = Object.entries(stateOf(org))
    .filter(([title, rows]) => rows.length > 0 || title === 'Lead')
    .map(([title, rows]) => ({ title, rows }));
  const note = `Client id ${org.clientId}, user ${org.username}, key at /_double/private-key.pem (made for this run alone).`;
  return statePage({ title: 'Salesforce: stand-in', note, barColor: '#0b5cab', tables });
}
