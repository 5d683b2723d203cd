/** Characters of a token that an administrator has chosen. */
export const minTokenLength = 24;
const minDifferent = 8;

/**
 * Whether a token could be found by trying: it is shorter than 24 characters, has fewer than 8 different ones, or repeats
 * a part of itself. Random tokens pass: `openssl rand -hex 12` fails with a chance of one in 10,000 at most.
 */
export function isGuessable(token: string): boolean {
  const different = new Set(token).size;
  return token.length < minTokenLength || different < minDifferent || isRepetition(token);
}

function isRepetition(token: string): boolean {
  for (let part = 1; part <= token.length / 2; part += 1) {
    if (token.slice(part) === token.slice(0, -part)) return true;
  }
  return false;
}
