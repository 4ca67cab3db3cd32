// Proofs are checked as texts; the client returns them as values.
import type {components} from './contract.js';
import {verify as verifyTexts, type Given as Texts} from './verify.mjs';

type Proof = components['schemas']['AuditProof'];

/** A proof, the proofs of a whole shoe, or the text of a proof file, with its name if it has one. */
export type File = Proof | Proof[] | string | {name: string; text: string};

/**
 * What proofs are checked against, as text or as the client returned it. What is missing is not checked. Of items and
 * answers with integers from 2⁵³ on give the text, since they are rounded as values.
 */
export interface Given extends Omit<Texts, 'items' | 'order' | 'hand'> {
  /** The items; of a deck, all codes. */
  items?: string | readonly unknown[];
  /** What was answered: a whole answer, or an array of items or positions. */
  order?: string | object;
  /** Cards that were drawn from a shoe with their proofs: a whole answer, an array of cards, or one. */
  hand?: string | object;
}

/**
 * Verifies proofs without the service, as specified in docs/spec.md and docs/shoes.md: those of records, of commitments
 * that they used, and of whole shoes. A list is of several files. It never throws.
 */
export function verify(files: File | File[], given: Given = {}): ReturnType<typeof verifyTexts> {
  const {items, order, hand, ...texts} = given;
  for (const [name, value] of Object.entries({items, order, hand}))
    if (value !== undefined) Object.assign(texts, {[name]: text(value)});
  return verifyTexts(
    [files].flat().map((file) => (isNamed(file) ? file : text(file))),
    texts,
  );
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const isNamed = (file: File): file is {name: string; text: string} => typeof file === 'object' && 'text' in file;
