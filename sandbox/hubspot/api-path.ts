/** A path in the words of the v3 (associations: v4) API, and the version that the request named. */
export interface ApiPath {
  readonly path: string;
  /** `v3`, or a date version such as `2026-09`. */
  readonly version: string;
}

/** Date versions that are documented; any other date is a 404. */
const DATE_VERSIONS = new Set(['2025-09', '2026-03', '2026-09']);

/** Area of a dated path, and what it is called in the numbered API: `/crm/objects/2026-03/…` is `/crm/v3/objects/…`. */
const AREAS: readonly (readonly [dated: string, numbered: string])[] = [
  ['/crm/objects/', '/crm/v3/objects'],
  ['/crm/properties/', '/crm/v3/properties'],
  ['/crm/associations/', '/crm/v4/associations'],
  ['/crm/lists/', '/crm/v3/lists'],
  ['/crm-object-schemas/', '/crm/v3'],
  ['/marketing/marketing-events/', '/marketing/v3/marketing-events'],
  ['/account-info/', '/account-info/v3'],
];

/** The numbered path of a request; `undefined` for a date that is no version. */
export function apiPath(path: string): ApiPath | undefined {
  for (const [dated, numbered] of AREAS) {
    if (!path.startsWith(dated)) continue;
    const [version = '', ...rest] = path.slice(dated.length).split('/');
    if (/^v\d+$/.test(version)) break;
    if (!DATE_VERSIONS.has(version)) return undefined;
    return { path: [numbered, ...rest].join('/'), version };
  }
  return { path: path.replace(/^\/crm-object-schemas\/v3\//, '/crm/v3/'), version: 'v3' };
}
