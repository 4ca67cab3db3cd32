/** A sentence as data: its text is in the table of messages, and {@link render} writes it. */
export interface Message {
  id: string;
  values: Record<string, unknown>;
}

/** One step of a check. `ok` is null for a step that was not checked. */
export interface Step {
  name: string;
  ok: boolean | null;
  text: string;
  message: Message;
}

export interface Verdict {
  /** `verified` if everything that was given holds, `false` if something is false, else `unchecked`. */
  verdict: 'verified' | 'false' | 'unchecked';
  /** The verdict in a sentence. */
  headline: string;
  /** What else there is to say. */
  notes: string[];
  /** The headline, then the notes. */
  messages: Message[];
  steps: Step[];
  /** The headline for programs: an id, and values that depend on it, as docs/spec.md has them. */
  summary: {id: string; [value: string]: unknown};
}

/**
 * Texts that a proof is checked against. What is missing is not checked. At most one of answer, order and hand may be
 * there.
 */
export interface Given {
  /** The public key of the log, from another source than the proof. */
  key?: string;
  /** The logs and witnesses that are trusted, as C2SP tlog-policy. */
  policy?: string;
  /** The answer of `POST /shuffle`. */
  answer?: string;
  /** Everything that was dealt: a JSON array, or plain lines; for several shuffles a JSON array of arrays. */
  order?: string;
  /** One hand of a deal, as a list, or cards of a shoe: an answer with their proofs, an array of cards, or one. */
  hand?: string;
  /** Which hand of the deal it is: a number from 1, or `rest`. */
  handOf?: number | string;
  /** What was shuffled: a JSON array, or plain lines; of a deck, the codes of all cards. */
  items?: string;
  /** The salt that the items were sent with. */
  salt?: string;
}

/**
 * Verifies the text of a proof, of a record or of a whole shoe, without the service, as specified in docs/spec.md and
 * docs/shoes.md. It never throws.
 */
export function verify(proof: string, given?: Given): Promise<Verdict>;

/** The text of a message in English, or by another table of texts. `comma` is between the elements of a list. */
export function render(message: Message, table?: Record<string, string>, comma?: string): string;
