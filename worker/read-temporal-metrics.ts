import { request } from 'undici';

const timeoutMs = 3000;

/**
 * What the Temporal SDK counts, in Prometheus' text format.
 * @param address host and port; null: it counts nothing
 * @throws when it does not answer
 */
export async function readTemporalMetrics(address: string | null): Promise<string> {
  if (address === null) return '';
  const options = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const { statusCode, body } = await request(`http://${address}/metrics`, options);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the metrics of the Temporal SDK are not shown (HTTP ${statusCode})`);
  // A comment that the next part follows on the same line would swallow it.
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
