import { createHash } from 'node:crypto';
import { hashedBytes } from './open-registrants.js';

const pieces = ['attendeeCode\n', '007\n', 'rest'];

async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield Buffer.from(piece);
}

describe('bytes that are hashed as they pass', () => {
  const whole = createHash('sha256').update(pieces.join('')).digest('hex');

  it('have the hash of the whole, also when their reader stopped early', async () => {
    const early = hashedBytes(source());
    for await (const piece of early.bytes) if (piece.length > 0) break;
    expect(await early.digest()).toBe(whole);

    const all = hashedBytes(source());
    let read = '';
    for await (const piece of all.bytes) read += Buffer.from(piece).toString();
    expect([read, await all.digest()]).toEqual([pieces.join(''), whole]);
  });
});
