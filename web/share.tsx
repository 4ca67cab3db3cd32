// Buttons that pass a link on.
import {useState} from 'preact/hooks';
import {text} from './page';

/** Share copies a link, or hands it to the programs of the reader's device where the browser can. */
export function Share({link}: {link: string}) {
  const [copied, setCopied] = useState('');
  return (
    <>
      {isSecureContext && (
        <button type="button" onClick={() => void navigator.clipboard.writeText(link).then(() => setCopied(link))}>
          <span aria-live="polite">{text(copied === link ? 'share.copied' : 'share.copy')}</span>
        </button>
      )}
      {'share' in navigator && (
        <button type="button" onClick={() => void navigator.share({url: link}).catch(() => {})}>
          {text('share.share')}
        </button>
      )}
    </>
  );
}
