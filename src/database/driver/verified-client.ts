/**
 * The connection to PostgreSQL from which all others of this service are derived. node-postgres answers whatever a server asks for, also with
 * the password itself, and takes a server that asks for nothing. Another program on the server's port would get both.
 */
import { readFile } from 'node:fs/promises';
import { TLSSocket } from 'node:tls';
import { Client, types, type ClientConfig } from 'pg';
import { encryptionOf, passwordFile, requiredMethods, type Encryption, type AuthMethod } from '../../config/database-address.ts';
import { parseJson } from '../../json/parse-json.ts';

/** Thrown while connecting: the server has not proved that it is ours. No password and no statement was sent to it. */
export class UntrustedServerError extends Error {
  override readonly name = 'UntrustedServerError';
}

/** Thrown while connecting: the file of `password_file` has no password now. */
export class PasswordFileError extends Error {
  override readonly name = 'PasswordFileError';
}

/** What the types of node-postgres leave out of its client: the steps of signing in. */
interface SigningIn {
  _connecting: boolean;
  /** Null once the server has proved that it knows the password too. */
  saslSession?: object | null;
  _handleAuthCleartextPassword(message: unknown): void;
  _handleAuthMD5Password(message: unknown): void;
  _handleAuthSASLFinal(message: unknown): void;
  _handleReadyForQuery(message: unknown): void;
}

const SigningInClient = Client as unknown as new (config: ClientConfig) => Client & SigningIn;

/**
 * A client that gives its password to no server that has not proved its identity (rule 88 of docs/security.md, decision 64).
 *
 * Without `require_auth` in the address, a server may ask for SCRAM or for nothing, and for the password or its MD5 over TLS whose certificate
 * was verified. With it, exactly the methods that it lists. Otherwise `connect` rejects with an {@link UntrustedServerError}.
 */
export class VerifiedClient extends SigningInClient {
  /** The encryption that the address demands. */
  readonly encryption: Encryption;
  readonly #required: AuthMethod[] | undefined;
  #method: AuthMethod = 'none';

  /** Throws an Error without the password in it where node-postgres could not connect. */
  constructor(config: ClientConfig & { connectionString: string }) {
    super(config);
    // Documents of types and fields have names of callers.
    for (const type of [types.builtins.JSON, types.builtins.JSONB]) this.setTypeParser(type, parseJson);
    this.encryption = encryptionOf(this.ssl);
    this.#required = requiredMethods(config.connectionString);
    const file = passwordFile(config.connectionString);
    // Each connection reads it anew, so a changed password needs no restart.
    if (file !== undefined) Object.assign(this, { password: () => readPassword(file) });
  }

  /** Ends the connection. An error that it has by then changes nothing for the caller. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.end().catch(() => undefined);
  }

  override _handleAuthCleartextPassword(message: unknown): void {
    if (this.#mayPresent('password')) super._handleAuthCleartextPassword(message);
  }

  override _handleAuthMD5Password(message: unknown): void {
    if (this.#mayPresent('md5')) super._handleAuthMD5Password(message);
  }

  override _handleAuthSASLFinal(message: unknown): void {
    super._handleAuthSASLFinal(message);
    if (this.saslSession === null) this.#method = 'scram-sha-256';
  }

  override _handleReadyForQuery(message: unknown): void {
    if (this._connecting && !this.#isSignedIn()) return;
    super._handleReadyForQuery(message);
  }

  /** Whether this server may see the password, or what proves it without proving the server. Ends the connection otherwise. */
  #mayPresent(method: 'password' | 'md5'): boolean {
    const { stream } = this.connection;
    this.#method = method;
    // `authorized` says that the certificate is valid, but not that it was compared with the host.
    const isVerified = this.encryption === 'verified' && stream instanceof TLSSocket && stream.authorized;
    if (this.#required ? this.#required.includes(method) : isVerified) return true;
    const hint = `use scram-sha-256 or sslmode=verify-full, or allow it with require_auth=${method}`;
    const reason = this.#required ? requires(this.#required) : `the connection is not TLS with a verified certificate: ${hint}`;
    return this.#refuse(`asks for ${method === 'password' ? 'the password in clear' : 'the MD5 of the password'}, but ${reason}`);
  }

  /** Whether the server has done all that it must before it gets a statement. Ends the connection otherwise. */
  #isSignedIn(): boolean {
    if (this.saslSession) return this.#refuse('has not proved that it knows the password, but lets us in');
    if (this.#required === undefined || this.#required.includes(this.#method)) return true;
    return this.#refuse(`lets us in with the method "${this.#method}", but ${requires(this.#required)}`);
  }

  #refuse(reason: string): false {
    this.connection.stream.destroy(new UntrustedServerError(`the PostgreSQL server ${reason}`));
    return false;
  }
}

async function readPassword(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new PasswordFileError(`the password_file of the database cannot be read: ${error.message}`);
  });
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new PasswordFileError(`the password_file of the database, ${file}, is empty`);
  return password;
}

function requires(required: AuthMethod[]): string {
  return `its address requires ${required.join(' or ')} (require_auth)`;
}
