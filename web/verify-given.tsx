// The list of texts that /verify checks: the reader can change the role of each, and adds a salt or
// the number of a hand.
import {useId} from 'preact/hooks';
import {recordsOf, type Check, type Text} from './check';
import {text} from './page';

/**
 * A Given is a text to check. role is the reader's choice, looks the role that the verifier finds;
 * both may be missing.
 */
export interface Given extends Text {
  looks?: string;
  isLookedUp?: boolean;
}

/** A Change has the new values of the members that the reader changed. */
interface Change {
  texts?: Given[];
  salt?: string;
  handOf?: string;
  anyOrder?: boolean;
}

const roles = ['proof', 'order', 'hand', 'items', 'key', 'salt', 'policy'] as const;

/** most is of how many hands one can be chosen. Decks of people have fewer. */
const most = 200;

/**
 * roleOf returns the role in which a text is checked. My hand is one of a shoe, which has proofs of
 * its cards, or one of a deal.
 */
export const roleOf = ({role, looks}: Given) =>
  role === 'hand' && (looks === 'list' || looks === 'answer') ? 'order' : (role ?? looks);

/** printable returns a name without characters that change how the text around it looks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces them
export const printable = (name: string) => name.replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');

/** List shows the role of each text, with a way to change it. */
export function List({
  texts,
  salt,
  handOf,
  anyOrder,
  check,
  onChange,
}: {
  texts: Given[];
  salt: string;
  handOf: string;
  anyOrder: boolean;
  check?: Check;
  onChange: (change: Change) => void;
}) {
  const heading = useId(),
    records = texts.flatMap((given) => (roleOf(given) === 'proof' ? recordsOf(given) : []));
  const hands = records.flatMap(({hands}) => (Array.isArray(hands) && hands.length <= most ? [hands.length] : []));
  const isCompared = texts.some((given) => ['answer', 'order', 'list'].includes(roleOf(given)!));
  const change = (i: number, role?: string) =>
    onChange({texts: texts.map((given, j) => (i === j ? {...given, role} : given))});
  return (
    <section class="panel given" aria-labelledby={heading}>
      <h2 id={heading}>{text('verify.given')}</h2>
      <ul>
        {texts.map((given, i) => (
          <li key={i}>
            <span>
              <bdi>{given.name}</bdi> <span class="quiet">{stateOf(given, check, i)}</span>
            </span>
            <select
              aria-label={text('verify.given.is', given.name)}
              value={given.role ?? ''}
              onChange={(event) => change(i, event.currentTarget.value || undefined)}
            >
              <option value="">{text('role.auto', roleText(given.looks))}</option>
              {roles.map((role) => (
                <option key={role} value={role}>
                  {roleText(role)}
                </option>
              ))}
            </select>
            <button
              type="button"
              aria-label={text('verify.given.remove', given.name)}
              onClick={() => onChange({texts: texts.filter((_, j) => i !== j)})}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {((hands.length > 0 && isCompared) || salt !== '' || texts.some(isSalted)) && (
        <div class="fields">
          {hands.length > 0 && isCompared && (
            <label>
              {text('verify.hand')}
              <select value={handOf} onChange={(event) => onChange({handOf: event.currentTarget.value})}>
                <option value="">{text('verify.hand.any')}</option>
                {Array.from({length: Math.max(...hands)}, (_, i) => (
                  <option key={i} value={String(i + 1)}>
                    {text('part.hand', i + 1)}
                  </option>
                ))}
                <option value="rest">{text('part.rest')}</option>
              </select>
            </label>
          )}
          {hands.length > 0 && isCompared && (
            <label>
              <input
                type="checkbox"
                checked={anyOrder}
                onChange={(event) => onChange({anyOrder: event.currentTarget.checked})}
              />{' '}
              {text('verify.hand.sorted')}
            </label>
          )}
          {(salt !== '' || texts.some(isSalted)) && (
            <label>
              {text('verify.salt')}
              <input
                value={salt}
                spellcheck={false}
                autocomplete="off"
                onChange={(event) => onChange({salt: event.currentTarget.value.trim()})}
              />
            </label>
          )}
        </div>
      )}
    </section>
  );
}

/** isSalted reports whether a text is, or seems to be, of a record whose items have a salt. */
const isSalted = (given: Given) => roleOf(given) === 'proof' && given.text.includes('items_digest');

type Role = (typeof roles)[number] | 'answer' | 'list';

const roleText = (role?: string) => text(role ? `role.${role as Role}` : 'role.unknown');

/** stateOf names the role of a text in the verdict, or else the role in which it will be checked. */
function stateOf(given: Given, check: Check | undefined, i: number): string {
  const {role = roleOf(given), hand, shuffle} = check?.files[i] ?? {};
  if (role === 'hand-of') {
    const part = hand === 'rest' ? text('part.rest') : text('part.hand', hand!);
    return text('role.hand-of', part, shuffle ? text('part.shuffle', shuffle) : text('part.deal'));
  }
  if (role === 'unused') return text('role.unused');
  return role === 'order' && check?.files[i] ? text('role.compared') : roleText(role);
}
