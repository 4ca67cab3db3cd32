// Buttons that pass something on.
import {useState} from 'preact/hooks';
import {text} from './page';

/** Copy copies a text, where the browser can. */
export function Copy({value, label}: {value: string; label: string}) {
  const [copied, setCopied] = useState<string>();
  if (!isSecureContext) return null;
  return (
    <button
      type="button"
      class="copy"
      onClick={() => void navigator.clipboard.writeText(value).then(() => setCopied(value))}
    >
      <span aria-live="polite">{copied === value ? text('share.copied') : label}</span>
    </button>
  );
}

/** Share copies a link, or hands it to the programs of the reader's device where the browser can. */
export function Share({link}: {link: string}) {
  return (
    <>
      <Copy value={link} label={text('share.copy')} />
      {'share' in navigator && (
        <button type="button" onClick={() => void navigator.share({url: link}).catch(() => {})}>
          {text('share.share')}
        </button>
      )}
    </>
  );
}
