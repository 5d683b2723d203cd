import { Secret } from '../config/secret.js';
import type { Config } from '../operations/load-process-config.js';

/** Patterns that only secrets and e-mail addresses match. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/[^\s"'<>@:/]+@[^\s"'<>@:/]+\.[A-Za-z]{2,}/g, '[e-mail]'],
  [/\b(?:whsec_|xox[a-z]-|pat-|sk-|pp[a-z]?_)[\w+/=.-]{4,}/g, '[secret]'],
  [/\b(Bearer|Basic)\s+[\w+/=.~-]{8,}/gi, '$1 [secret]'],
  [/:\/\/[^\s/@"']+@/g, '://[secret]@'],
  [/([?&](?:token|key|secret|password|signature|sig|code)=)[^\s&"']+/gi, '$1[secret]'],
  [/-----BEGIN [^-]+-----[^]*?-----END [^-]+-----/g, '[secret]'],
];

/**
 * Removes secrets and e-mail addresses from a report at any depth: the secrets of this configuration, and all text that
 * looks like one. This is a second safeguard, because reports should contain none.
 * @param config undefined if it cannot be loaded
 */
export function redactor(config: Config | undefined): <Value>(value: Value) => Value {
  const secrets = [...secretsIn(config)].filter((text) => text.length >= 4).toSorted((a, b) => b.length - a.length);
  const ofText = (text: string): string => {
    const without = secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
    return forms.reduce((left, [form, instead]) => left.replaceAll(form, instead), without);
  };
  const of = (value: unknown): unknown => {
    if (typeof value === 'string') return ofText(value);
    if (Array.isArray(value)) return value.map(of);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [ofText(name), of(inner)]));
  };
  return <Value>(value: Value): Value => of(value) as Value;
}

function secretsIn(value: unknown, seen = new Set<unknown>()): Set<string> {
  const found = new Set<string>();
  if (value instanceof Secret) return found.add(value.reveal());
  if (typeof value !== 'object' || value === null || seen.has(value)) return found;
  seen.add(value);
  const inner = value instanceof Map ? [...value.values()] : Object.values(value);
  for (const each of inner) for (const text of secretsIn(each, seen)) found.add(text);
  return found;
}
