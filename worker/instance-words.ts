/** What a command needs to find out which pigeonpost answers. The rules are those of the API. */
export { type InstanceAnswer, isSameProof, prove, realPath, storeName } from '../api/instance-proof.js';
export { hashToken, tokenIdOf } from '../api/token-text.js';
