// What a page shows if the service refuses a request.
import {setToken, text, token, type Problem} from './page';

/** Refused shows a problem, and asks for a token if none was sent. */
export function Refused({problem, onToken}: {problem: Problem; onToken: () => void}) {
  const submit = (event: Event) => {
    event.preventDefault();
    setToken(String(new FormData(event.target as HTMLFormElement).get('token')));
    onToken();
  };
  return (
    <div class="panel problem" role="alert">
      <p>{problem.message}</p>
      {problem.status === 401 && (
        <form onSubmit={submit}>
          <label>
            {text('token')}
            <input name="token" type="password" autocomplete="off" defaultValue={token()} required />
          </label>
          <div class="actions">
            <button>{text('token.use')}</button>
          </div>
        </form>
      )}
    </div>
  );
}
