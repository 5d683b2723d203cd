/** Re-exports the API's rules by which a command verifies which pigeonpost answers. */
export { type InstanceAnswer, isSameProof, prove, realPath, storeName } from '../api/instance.js';
export { hashToken, tokenIdOf } from '../api/credentials.js';
