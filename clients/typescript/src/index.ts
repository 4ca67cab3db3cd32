/**
 * A client of the Riffle shuffle service for Node, Deno, Bun and browsers. Start with {@link
 * Riffle}, whose calls return the answer or throw a {@link RiffleError} if the service refuses and an
 * {@link UnreachableError} if it does not answer; {@link verify} checks proofs without the service.
 *
 * @module
 */
export {
  type Attempt,
  type AuditProof,
  type Bounds,
  type Options,
  type Outcome,
  type Problem,
  Riffle,
  RiffleError,
  UnreachableError,
} from './client.js';
export type {components, operations, paths} from './contract.js';
export {type Deal, deal, draw, pick, verifyDeal} from './games.js';
export {type Given, type Proof, verify} from './proofs.js';
export type {Step, Verdict} from './verify.mjs';
