/**
 * Cursors: encrypted positions in a list, which clients return for the next page. A client can neither read the keys and values in a
 * cursor nor make one. A cursor is valid for its user and query only. It grants no right: each page applies the present rights of the
 * caller (rule 64, decision 112).
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { secretNamed, type SecretValues, type ServiceSecrets } from '../../database/service-secrets.ts';
import { positionOf, tokenOf, type LogPosition } from '../../database/standby/log-position.ts';
import type { RowPosition } from '../../filter/order.ts';

export interface CursorPosition extends RowPosition {
  /** Whether the page after the position is wanted, or the one before it. */
  direction: 'next' | 'prev';
}

interface CursorKeys {
  encryption: KeyObject;
  nonce: KeyObject;
}

interface DerivedKeys {
  from: SecretValues;
  present: CursorKeys;
  /** Of cursors from before the last rotation; undefined if there was none. */
  before: CursorKeys | undefined;
}

const prefix = 'q1.';
/** A cursor, and the place of the log behind it if there is a standby. */
const form = /^(q1\.[\w-]+)(?:\.([\w-]{16}))?$/;
const nonceLength = 12;
const tagLength = 16;

export class Cursors {
  readonly #secrets: ServiceSecrets;
  #derived: DerivedKeys | undefined;

  constructor(secrets: ServiceSecrets) {
    this.#secrets = secrets;
  }

  /** The cursor of a position in the list that `binding` describes. The same position has the same cursor, so that pages are repeatable. */
  async seal({ direction, values, key }: CursorPosition, binding: string): Promise<string> {
    const {
      present: { encryption, nonce },
    } = await this.#getKeys();
    const payload = JSON.stringify([direction, values, key]);
    // Two different positions never share a nonce, because it is made of the position (as in RFC 5297).
    const own = createHmac('sha256', nonce).update(`${binding}\0${payload}`).digest().subarray(0, nonceLength);
    const cipher = createCipheriv('aes-256-gcm', encryption, own).setAAD(Buffer.from(binding));
    const sealed = Buffer.concat([own, cipher.update(payload, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return prefix + sealed.toString('base64url');
  }

  /** The position of a cursor; undefined if it was changed, or is of another list. */
  async open(cursor: string, binding: string): Promise<CursorPosition | undefined> {
    const { present, before } = await this.#getKeys();
    const [, sealed = ''] = form.exec(cursor) ?? [];
    const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
    // Base64 has several texts for the same bytes.
    if (bytes.length <= nonceLength + tagLength || prefix + bytes.toString('base64url') !== sealed) return undefined;
    const payload = decrypt(bytes, present, binding) ?? (before && decrypt(bytes, before, binding));
    if (payload === undefined) return undefined;
    const [direction, values, key] = JSON.parse(payload) as [CursorPosition['direction'], (string | null)[], string];
    return { direction, values, key };
  }

  async #getKeys(): Promise<DerivedKeys> {
    const from = await this.#secrets.current();
    if (this.#derived?.from === from) return this.#derived;
    const before = from.get('cursor-before');
    return (this.#derived = { from, present: derive(secretNamed(from, 'cursor')), before: before && derive(before) });
  }
}

/**
 * The cursor with the place of the log that its page has, so that no page is older than the one before it. It is not encrypted: it says as
 * much as a `Consistency-Token`, and a place that a client invents only leads to the primary.
 */
export function atPosition(cursor: string | undefined, position: LogPosition | undefined): string | undefined {
  return cursor === undefined || !position ? cursor : `${cursor}.${tokenOf(position)}`;
}

/** The place of the log in a cursor; undefined if it has none. */
export function positionIn(cursor: string | undefined): LogPosition | undefined {
  const [, , token] = form.exec(cursor ?? '') ?? [];
  return token === undefined ? undefined : positionOf(token);
}

/** The content of a cursor; undefined if it was changed, is of another list or has another key. */
function decrypt(bytes: Buffer, { encryption }: CursorKeys, binding: string): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', encryption, bytes.subarray(0, nonceLength), { authTagLength: tagLength })
    .setAAD(Buffer.from(binding))
    .setAuthTag(bytes.subarray(-tagLength));
  const payload = decipher.update(bytes.subarray(nonceLength, -tagLength));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return payload.toString('utf8');
}

/** Making a key object of the bytes for each cursor would take three times as long as the rest. */
function derive(value: Buffer): CursorKeys {
  const keyFor = (purpose: string) => createSecretKey(new Uint8Array(hkdfSync('sha256', value, '', `cursor ${purpose}`, 32)));
  return { encryption: keyFor('encryption'), nonce: keyFor('nonce') };
}
