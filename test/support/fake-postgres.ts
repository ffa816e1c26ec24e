/**
 * An attacker on the port where a client expects PostgreSQL. It requests the password by a given method, and records all that it receives.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A message of the PostgreSQL protocol: a letter, the length, the content. */
function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const signedIn = message('R', int32(0));
const ready = message('Z', Buffer.from('I'));
const scram = message('R', Buffer.concat([int32(10), Buffer.from('SCRAM-SHA-256\0\0')]));

/** What the attacker sends after the first message of a connection, and after the second one. */
const answers = {
  'asks for the password': [message('R', int32(3))],
  'asks for the MD5 of the password': [message('R', Buffer.concat([int32(5), Buffer.from('salt')]))],
  'asks for nothing': [Buffer.concat([signedIn, ready])],
  'asks for nothing and sends no AuthenticationOk': [ready],
  'begins SCRAM and does not finish it': [scram, Buffer.concat([signedIn, ready])],
} satisfies Record<string, Buffer[]>;

export type Attack = keyof typeof answers;
export const attacks = Object.keys(answers) as Attack[];

interface Certificate {
  key: string;
  cert: string;
}

export class FakePostgres {
  readonly #server: Server;
  /** What each connection has sent after its first message, which contains the names of user and database. */
  readonly #received: Buffer[][] = [];

  private constructor(attack: Attack, tls: Certificate | undefined) {
    this.#server = createServer((socket) => {
      if (!tls) return this.#attack(socket, answers[attack]);
      // The client asks whether the server supports TLS.
      socket.once('data', () => {
        socket.write('S');
        this.#attack(new TLSSocket(socket, { isServer: true, ...tls }), answers[attack]);
      });
    });
  }

  /** Listens until the test is over; with TLS if a certificate is given. */
  static async start(attack: Attack, tls?: Certificate): Promise<FakePostgres> {
    const fake = new FakePostgres(attack, tls);
    onTestFinished(() => void fake.#server.close());
    await once(fake.#server.listen(0, '127.0.0.1'), 'listening');
    return fake;
  }

  url(password: string, query = ''): string {
    return `postgres://ada:${password}@127.0.0.1:${(this.#server.address() as AddressInfo).port}/entities${query}`;
  }

  get connections(): number {
    return this.#received.length;
  }

  /** All that was sent after the first messages, as text. */
  get received(): string {
    return Buffer.concat(this.#received.flat()).toString('latin1');
  }

  #attack(socket: Socket, steps: Buffer[]): void {
    const received: Buffer[] = [];
    let step = 0;
    this.#received.push(received);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      if (step > 0) received.push(bytes);
      const answer = steps[step++];
      if (answer) socket.write(answer);
      else socket.destroy();
    });
  }
}
