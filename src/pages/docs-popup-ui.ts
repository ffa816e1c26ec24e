/**
 * The sign-in at an issuer in a window of its own, which Swagger UI opens. The pages of this service are apart from every other window
 * (`Cross-Origin-Opener-Policy`, rule 82), so the window cannot reach the page that has opened it. It sends the answer of the issuer by a channel, which
 * only pages of this origin can use. Like the functions of docs-ui.ts, the source text of these functions becomes part of a page.
 */

interface Channel {
  postMessage: (text: string) => void;
  addEventListener: (type: 'message', listener: (event: { data: unknown }) => void) => void;
}

interface WindowOfIssuer {
  BroadcastChannel: new (name: string) => Channel;
  location: { search: string };
  close: () => void;
  document: { body: { append: (text: string) => void } };
}

/** The data that Swagger UI stores in the page for the window that it opens. */
interface Authorization {
  state: string;
  redirectUrl: string;
  auth: { name: string; code?: string };
  callback: (result: { auth: object; redirectUrl: string }) => void;
  errCb: (error: { authId: string; source: 'auth'; level: 'error'; message: string }) => void;
}

/** In the window: sends the answer of the issuer, which is the query of its address, and closes the window. */
function sendIssuerAnswer(): void {
  const { BroadcastChannel, location, close, document } = globalThis as unknown as WindowOfIssuer;
  const channel = new BroadcastChannel('issuer-answer');
  const sendToPages = channel.postMessage.bind(channel);
  sendToPages(location.search);
  document.body.append('You can close this window.');
  close();
}

/** In the page: hands the answer to Swagger UI, if it is that to its own question. */
function receiveIssuerAnswer(): void {
  const page = globalThis as unknown as WindowOfIssuer & { swaggerUIRedirectOauth2?: Authorization };
  new page.BroadcastChannel('issuer-answer').addEventListener('message', ({ data }) => {
    const authorization = page.swaggerUIRedirectOauth2;
    const answer = new URLSearchParams(String(data));
    if (!authorization || answer.get('state') !== authorization.state) return;
    delete page.swaggerUIRedirectOauth2;
    const { auth, redirectUrl, callback, errCb } = authorization;
    const code = answer.get('code');
    if (code !== null) callback({ auth: Object.assign(auth, { code }), redirectUrl });
    else {
      const message = answer.get('error_description') ?? answer.get('error') ?? 'The issuer has sent no code.';
      errCb({ authId: auth.name, source: 'auth', level: 'error', message });
    }
  });
}

/** The script of the window, which takes the place of Swagger UI's own. */
export const issuerWindowScript = `(${sendIssuerAnswer.toString()})();`;
/** The script of the page. */
export const issuerAnswerScript = `(${receiveIssuerAnswer.toString()})();`;
