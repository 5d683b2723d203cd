/** The page's address with a code that signs one browser in. A server that listens everywhere is reached on loopback. */
export function pageLink(baseUrl: string, { code }: { readonly code: string }): string {
  const link = new URL(`${baseUrl.replace(/\/$/, '')}/?code=${code}`);
  if (link.hostname === '0.0.0.0') link.hostname = '127.0.0.1';
  if (link.hostname === '[::]') link.hostname = '[::1]';
  return link.href;
}
