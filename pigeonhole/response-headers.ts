/** Header names in lower case; a header that came more than once is a list. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header's value, the first one where it came more than once. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** X-Request-Id where it is a plain token, else null: it ends up in messages, so nothing else may come in through it. */
export function requestIdOf(headers: ResponseHeaders): string | null {
  const value = headerOf(headers, 'x-request-id')?.trim() ?? '';
  return /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}

/** The media type in lower case without parameters; undefined when there is none, 'unreadable' for nonsense. */
export function mediaTypeOf(headers: ResponseHeaders): string | undefined {
  const value = headerOf(headers, 'content-type');
  if (value === undefined || value.trim() === '') return undefined;
  const type = value.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]{1,40}\/[\w.+-]{1,80}$/.test(type) ? type : 'unreadable';
}

/** `application/json`, or a type that says it is JSON by its suffix (RFC 6839). */
export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
