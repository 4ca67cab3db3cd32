// Proofs are checked as texts; the client returns them as values.
import type {components} from './contract.js';
import {verify as verifyTexts, type Given as Texts, type Verdict} from './verify.mjs';

type Schemas = components['schemas'];

/** The proof of a record or of a whole shoe, as the client returned it or as the text of a file. */
export type Proof = Schemas['AuditProof'] | Schemas['ShoeProof'] | string;

/**
 * What a proof is checked against, as text or as the client returned it. What is missing is not checked. At most one of
 * answer, order and hand may be there. Of items and cards with integers from 2⁵³ on give the text, since values are
 * rounded.
 */
export interface Given extends Omit<Texts, 'answer' | 'order' | 'hand' | 'items'> {
  /** The answer of `POST /shuffle`. */
  answer?: string | object;
  /** Everything that was dealt: an array, and for several shuffles an array of arrays. */
  order?: string | readonly unknown[];
  /** One hand of a deal, or cards of a shoe: an answer with their proofs, an array of cards, or one. */
  hand?: string | object;
  /** What was shuffled; of a deck, the codes of all cards. */
  items?: string | readonly unknown[];
}

/** Verifies a proof without the service, as specified in docs/spec.md and docs/shoes.md. It never throws. */
export function verify(proof: Proof, {answer, order, hand, items, ...texts}: Given = {}): Promise<Verdict> {
  for (const [name, value] of Object.entries({answer, order, hand, items}))
    if (value !== undefined) Object.assign(texts, {[name]: text(value)});
  return verifyTexts(text(proof), texts);
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
