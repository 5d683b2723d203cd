import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Answers 403 if a page that this server did not serve caused the request, and returns true. Every page in a browser
 * can send requests to loopback, and with a DNS name of its own it can also read the answers (DNS rebinding).
 */
export function refusePages(incoming: IncomingMessage, response: ServerResponse): boolean {
  const reason = foreignPart(incoming);
  if (reason === undefined) return false;
  incoming.resume();
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(`${reason}\n`);
  return true;
}

function foreignPart({ method, headers }: IncomingMessage): string | undefined {
  const { host = '', origin } = headers;
  if (!/^(127(\.\d{1,3}){3}|([a-z0-9-]+\.)*localhost|\[::1\])(:\d{1,5})?$/i.test(host)) {
    return 'this server is for programs on this machine, so send requests to a loopback address';
  }
  if (origin !== undefined && origin !== `http://${host}`) return 'requests of pages from other origins are refused';
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return undefined;
  const isFollowedLink = method === 'GET' && headers['sec-fetch-dest'] === 'document';
  return isFollowedLink ? undefined : 'requests of pages from other sites are refused';
}
