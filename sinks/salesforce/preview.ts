import type { ValueWrite } from '../records/decide-values.js';
import type { PreviewedCall } from '../sink.js';
import type { SalesforceConfig } from './config.js';
import type { CampaignStep, Lookup, PersonStep, Step } from './operation.js';
import { soqlText } from './query.js';
import { type FieldValues, type Write, writeCall } from './write-records.js';

/** An id that only an answer of Salesforce contains. */
const unknownId = '{id}';

/**
 * Returns the calls of a step in their order. Salesforce's answers decide which person is updated, and which of the
 * fields stay as they are. Pure.
 */
export function previewOf(
  step: Step,
  { baseUrl, loginUrl, apiVersion }: Pick<SalesforceConfig, 'baseUrl' | 'loginUrl' | 'apiVersion'>,
): PreviewedCall[] {
  const base = `${baseUrl ?? loginUrl}/services/data/${apiVersion}`;
  const find: Find = (type, by, value) => {
    const soql = `SELECT Id FROM ${type} WHERE ${by} IN (${soqlText(value)})`;
    return { method: 'GET', address: `${base}/query?q=${encodeURIComponent(soql)}`, body: null };
  };
  const write = (how: Write, fields: FieldValues): PreviewedCall => {
    const { method, path, body } = writeCall(how, [fields]);
    return { method, address: `${base}/${path}`, body };
  };
  const remove = (id: string): PreviewedCall => {
    const query = `ids=${encodeURIComponent(id)}&allOrNone=false`;
    return { method: 'DELETE', address: `${base}/composite/sobjects?${query}`, body: null };
  };
  switch (step.kind) {
    case 'person': {
      const { objectType: type, known, key, create, writes, campaign } = step;
      const fields = { ...valuesOf(writes), ...idsOf(step.lookups) };
      const person =
        known === null && create && key !== null
          ? write({ how: 'upsert', type, keyField: key.field }, { ...fields, [key.field]: key.value })
          : known === null && create
            ? write({ how: 'create', type }, fields)
            : write({ how: 'update', type: known?.type ?? type }, { Id: known?.id ?? unknownId, ...fields });
      const searches = known === null ? searchesOf(step, type, find) : [];
      return [
        ...searches,
        ...lookupsOf(step.lookups, find),
        person,
        ...campaignCalls(campaign, known?.type ?? type, write),
      ];
    }
    case 'leave': {
      const { member } = step.known;
      return [write({ how: 'update', type: 'CampaignMember' }, { Id: member?.id ?? unknownId, Status: step.status })];
    }
    case 'forget': {
      const { type, id, written } = step.known;
      if (step.how === 'delete') return [remove(id)];
      return [write({ how: 'update', type }, { Id: id, ...Object.fromEntries(written.map((name) => [name, null])) })];
    }
    case 'linked': {
      const { object: type, key, person, links } = step;
      const link = Object.values(links).find((each) => each !== undefined);
      const fields = {
        ...valuesOf(step.writes),
        ...idsOf(step.lookups),
        ...(link !== undefined && { [link]: unknownId }),
        [key.field]: key.value,
      };
      return [
        ...searchesOf(person, 'Contact', find),
        ...lookupsOf(step.lookups, find),
        write({ how: 'upsert', type, keyField: key.field }, fields),
      ];
    }
    case 'unlink':
      return [remove(step.known.id)];
  }
}

type Find = (type: string, by: string, value: string) => PreviewedCall;

function searchesOf({ key, email, match }: Pick<PersonStep, 'key' | 'email' | 'match'>, type: string, find: Find) {
  return match.flatMap((by): PreviewedCall[] => {
    if (by === 'externalId') return key === null ? [] : [find(type, key.field, key.value)];
    return email === null ? [] : [find(by === 'leadEmail' ? 'Lead' : 'Contact', 'Email', email)];
  });
}

function lookupsOf(lookups: readonly Lookup[], find: Find): PreviewedCall[] {
  return lookups.flatMap(({ field, object, keyField, key }) =>
    key === null ? [] : [find(object ?? field.replace(/Id$|__c$/, ''), keyField, key.value)],
  );
}

function idsOf(lookups: readonly Lookup[]): FieldValues {
  return Object.fromEntries(lookups.map(({ field, key, otherwise }) => [field, key === null ? otherwise : unknownId]));
}

function valuesOf(writes: readonly ValueWrite[]): FieldValues {
  return Object.fromEntries(writes.map(({ name, value }) => [name, value]));
}

function campaignCalls(
  campaign: CampaignStep | null,
  type: 'Lead' | 'Contact',
  write: (how: Write, fields: FieldValues) => PreviewedCall,
): PreviewedCall[] {
  if (campaign === null) return [];
  const { key, fields, stage, status, memberWrites } = campaign;
  const member = { CampaignId: unknownId, [`${type}Id`]: unknownId, Status: status[stage], ...valuesOf(memberWrites) };
  return [
    write({ how: 'upsert', type: 'Campaign', keyField: key.field }, { ...fields, [key.field]: key.value }),
    write({ how: 'create', type: 'CampaignMember' }, member),
  ];
}
