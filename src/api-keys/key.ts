/**
 * The form of an API key, `esk_<id>_<secret><crc>` (rule 57): creation, recognition without the database, and the hash for storage. The
 * checksum detects typing errors and lets scanners find leaked keys; it is no protection.
 */

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 12;
/** 43 characters of 62 carry 256 bits. */
const secretLength = 43;
const crcLength = 6;
const shape = new RegExp(`^(esk_([0-9A-Za-z]{${idLength}})_[0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${crcLength}})$`);

/** A fresh key and its public id. The key is shown once and stored only as `hashKey(key)`. */
export function newKey(): { id: string; key: string } {
  const id = randomBase62(idLength);
  const rest = `esk_${id}_${randomBase62(secretLength)}`;
  return { id, key: rest + checksum(rest) };
}

/** The id of a key; undefined if the text is not of the form of a key or its checksum is wrong. Does not check whether the key is valid. */
export function parseKey(text: string): { id: string } | undefined {
  const [, rest, id, crc] = shape.exec(text) ?? [];
  return rest !== undefined && id !== undefined && crc === checksum(rest) ? { id } : undefined;
}

/** SHA-256 of the whole key, 32 bytes. A plain hash is enough for a secret of 256 random bits (rule 58). */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** `randomInt` draws from the CSPRNG and rejects values that would favour some characters. */
function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

/** CRC-32 as six base62 digits, the most significant first. */
function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text), n = 0; n < crcLength; n++, rest = Math.floor(rest / alphabet.length))
    digits = alphabet.charAt(rest % alphabet.length) + digits;
  return digits;
}
