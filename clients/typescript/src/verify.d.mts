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
}

/** Texts that proofs are checked against. What is missing is not checked. */
export interface Given {
  /** The public key of the log, from another source than the proofs. */
  key?: string;
  /** The JSON array of the items; of a deck, all codes. */
  items?: string;
  itemsSalt?: string;
  /** What was answered: a whole response, or an array of items or positions. */
  order?: string;
  /** Which hand of the deal the order is: a number from 1, or `rest`. */
  handOf?: string;
  /** Accepts hands and the rest of the order in any order. */
  anyOrder?: boolean;
  /** Cards that were drawn from a shoe with their proofs: a whole response, an array of cards, or one. */
  hand?: string;
}

/** The text of a proof file, of a record or of a whole shoe, and its name if it has one. */
export type File = string | {name: string; text: string};

/**
 * Verifies proof files without the service, as specified in docs/spec.md and docs/shoes.md: those of records, of commitments that
 * they used, and of whole shoes. It never throws.
 */
export function verify(files: File | File[], given?: Given): Promise<Verdict & {proofs: (Verdict & {files: string[]})[]}>;

/** The text of a message in English, or by another table of texts. `comma` is between the elements of a list. */
export function render(message: Message, table?: Record<string, string>, comma?: string): string;
