/** HTTP that `fetch` refuses to speak: every method, repeated headers, and bytes that are not HTTP. It does not check the answers. */
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends a request with `headers` unchanged: name and value in turn, with repetitions. */
export function sendRequest(origin: string, method: string, path: string, headers: string[] = [], body?: string): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(origin);
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers: ['host', host, ...headers, ...length], agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends bytes and reads until the server closes the connection, or answers and sends no more. Returns the first response. */
export function sendBytes(origin: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    const done = () => {
      const answer = parseAnswer(text);
      if (answer) resolve(answer);
      else reject(new Error(`no HTTP answer: ${JSON.stringify(text)}`));
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      const answer = parseAnswer(text);
      const length = Number(answer?.headers['content-length'] ?? Number.NaN);
      if (answer && Buffer.byteLength(answer.text) >= length) socket.destroy();
    });
    socket.on('close', done);
    socket.on('error', done);
  });
}

function parseAnswer(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (end === -1 || status === undefined) return undefined;
  const lines = text.slice(0, end).split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(status), headers, text: text.slice(end + 4) };
}
