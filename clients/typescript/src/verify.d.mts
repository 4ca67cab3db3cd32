/** One step of a check. `ok` is null for a step that could not be checked. */
export interface Step {
  step: string;
  ok: boolean | null;
  detail: string;
}

export interface Verdict {
  /** `unchecked` if nothing is wrong and something could not be checked. */
  verdict: 'verified' | 'failed' | 'unchecked';
  steps: Step[];
  /** The positions of the items of each shuffle, in their order; null if the proof has no seed. */
  order: number[][] | null;
}

/** Texts that a proof is checked against. What is missing is not checked. */
export interface Given {
  /** The public key of the log, from another source than the proof. */
  key?: string;
  /** The JSON array of the items; of a deck, all codes. */
  items?: string;
  /** The salt of the items. */
  salt?: string;
  /** What was answered: a whole response, or an array of items or positions. */
  order?: string;
  /** The proof file of the commitment. */
  commitment?: string;
}

/** Verifies a proof file as specified in docs/spec.md, without the service. It throws if what is given is not well-formed. */
export function verify(proof: string, given?: Given): Promise<Verdict>;
