// What /verify checks a proof against: a field for each text that its record asks for. The text is pasted, or a file is
// chosen for the field or dropped on it.
import {useId, useState} from 'preact/hooks';
import type {Shown} from './check';
import {dropping} from './drop';
import {text} from './page';

/** A Text is what a reader gave, with its name, or was looked up in this service. */
export interface Text {
  name: string;
  text: string;
  isLookedUp?: boolean;
}

export type Input = 'proof' | 'answer' | 'order' | 'hand' | 'items' | 'salt' | 'key' | 'policy';

/** Texts are by the names that docs/spec.md has for them. */
export type Texts = Partial<Record<Input, Text>>;

/** most is of how many hands one can be chosen. Decks of people have fewer. */
const most = 200;

/** printable returns a name without characters that change how the text around it looks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces them
export const printable = (name: string) => name.replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');

/** inputsOf returns the inputs that a proof can be checked against, by its first record: of some only one is given. */
function inputsOf(texts: Texts, record?: Shown): Input[] {
  const compared: Input[] = record?.kind === 'shuffle' ? ['answer', 'order', 'hand'] : ['order', 'hand'],
    one = compared.find((input) => texts[input]);
  const isDealt = record !== undefined && ['shuffle', 'shoe', 'reshuffle'].includes(record.kind),
    hasItems = isDealt && (record.input?.startsWith('items ') || texts.items !== undefined);
  return [
    ...(isDealt ? (one ? [one] : compared) : []),
    ...(hasItems ? (['items'] as const) : []),
    ...(record?.items_digest || texts.salt ? (['salt'] as const) : []),
    'key',
    'policy',
  ];
}

interface Change {
  onText: (input: Input, given?: Text) => void;
  onFile: (input: Input, file: File) => void;
}

/** Fields has what was given, with a way to take it out, and a field for all else. */
export function Fields({
  texts,
  handOf,
  record,
  onHand,
  ...change
}: Change & {texts: Texts; handOf: string; record?: Shown; onHand: (handOf: string) => void}) {
  const heading = useId(),
    hands = Math.min(record?.hands?.length ?? 0, most);
  return (
    <section class="panel given" aria-labelledby={heading}>
      <h2 id={heading}>{text('verify.given')}</h2>
      <ul>
        {inputsOf(texts, record).map((input) => (
          <Field key={input} input={input} given={texts[input]} {...change} />
        ))}
      </ul>
      {texts.hand && hands > 0 && (
        <label>
          {text('verify.hand')}
          <select value={handOf} onChange={(event) => onHand(event.currentTarget.value)}>
            <option value="">{text('verify.hand.any')}</option>
            {Array.from({length: hands}, (_, i) => (
              <option key={i} value={String(i + 1)}>
                {text('part.hand', i + 1)}
              </option>
            ))}
            <option value="rest">{text('part.rest')}</option>
          </select>
        </label>
      )}
    </section>
  );
}

function Field({input, given, onText, onFile}: Change & {input: Input; given?: Text}) {
  const [over, setOver] = useState(false),
    role = text(`role.${input}`);
  if (given)
    return (
      <li>
        <span>
          {role} <bdi class="quiet">{given.name}</bdi>
        </span>
        <button type="button" aria-label={text('verify.given.remove', role)} onClick={() => onText(input)}>
          ×
        </button>
      </li>
    );
  return (
    <li class={over ? 'over' : ''} {...dropping(setOver, ([file]) => onFile(input, file!))}>
      <label>
        {role}
        <textarea
          rows={1}
          spellcheck={false}
          autocomplete="off"
          onChange={({currentTarget: {value}}) => {
            if (value.trim() !== '') onText(input, {name: text('verify.pasted'), text: value});
          }}
        />
      </label>
      <label class="button">
        {text('verify.choose')}
        <input
          type="file"
          name={input}
          class="hidden"
          aria-label={text('verify.file', role)}
          onChange={({currentTarget: {files}}) => {
            if (files?.[0]) onFile(input, files[0]);
          }}
        />
      </label>
    </li>
  );
}
