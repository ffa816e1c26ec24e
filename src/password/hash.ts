/**
 * Passwords into argon2id hashes and back into a yes or no. It knows no users and no limits on guessing; the stored form is the PHC
 * string. Every call costs about 20 ms of a core, so each goes through the gate, and never inside a database transaction.
 */
import { randomBytes } from 'node:crypto';
import { argon2id, hash, verify } from 'argon2';
import { Problem } from '../errors.ts';
import type { Gate } from './gate.ts';
import { normalisePassword } from './normalise.ts';

/** What new hashes are made with (rule 36); the library's own defaults cost four times as much. */
const current = { memoryCost: 19_456, timeCost: 2, parallelism: 1, hashLength: 32 };
const saltLength = 16;
const version = 19;

/** Beyond these a stored hash is not computed: one poisoned row must not take the memory of the process (rule 37). */
const bounds = { memoryCost: 262_144, timeCost: 10, parallelism: 4, saltLength: 64, hashLength: 128 };

/** Without a stored hash this one is verified: the same work with an answer nobody can hit, as no password was ever hashed into it. */
const dummy = phc(randomBytes(saltLength), randomBytes(current.hashLength));

export interface Verification {
  matches: boolean;
  /** The password matches a hash of lesser parameters than today's; store a new one. */
  outdated: boolean;
  /** There is a stored hash and it was refused unseen: not argon2id, not readable or too expensive. Somebody should look at that row. */
  unusable: boolean;
}

/** The PHC string to store. Throws `malformed-request` for a lone surrogate, `busy` when the gate is full. */
export async function hashPassword(gate: Gate, password: string): Promise<string> {
  const normal = normalisePassword(password);
  if (normal === undefined) throw new Problem('malformed-request');
  const salt = randomBytes(saltLength);
  const digest = await gate.run(() => hash(Buffer.from(normal), { ...current, type: argon2id, version, salt, raw: true }));
  return phc(salt, digest);
}

/**
 * Compares a password with a stored hash. Undefined stands for a user who does not exist or has no password: it never matches and takes
 * the same time, so that nobody learns which names exist (rule 42). Throws `busy` when the gate is full; nothing has been compared then.
 */
export async function verifyPassword(gate: Gate, storedHash: string | undefined, password: string): Promise<Verification> {
  const normal = normalisePassword(password);
  const parameters = storedHash === undefined ? undefined : readParameters(storedHash);
  const target = storedHash === undefined || parameters === undefined || normal === undefined ? undefined : storedHash;
  const equal = await gate.run(() => verify(target ?? dummy, Buffer.from(normal ?? password)));
  const matches = equal && target !== undefined;
  return {
    matches,
    outdated: matches && parameters !== undefined && isBelowCurrent(parameters),
    unusable: storedHash !== undefined && parameters === undefined,
  };
}

type Parameters = typeof bounds;

/** Written by hand because the library puts the parameters in an order which other readers of PHC strings refuse. */
function phc(salt: Buffer, digest: Buffer): string {
  const { memoryCost: m, timeCost: t, parallelism: p } = current;
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=${version}$m=${m},t=${t},p=${p}$${text(salt)}$${text(digest)}`;
}

/** Reads a PHC string strictly; undefined when it is another kind of hash, not in that form, or out of bounds. */
function readParameters(stored: string): Parameters | undefined {
  const found = /^\$argon2id\$v=19\$([mtp]=\d{1,7}(?:,[mtp]=\d{1,7}){2})\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{16,})$/.exec(stored);
  if (!found) return undefined;
  const [, costs = '', salt = '', digest = ''] = found;
  const cost = (name: string) => Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(costs)?.[1] ?? 0);
  const [memoryCost, timeCost, parallelism] = [cost('m'), cost('t'), cost('p')];
  const [saltLength, hashLength] = [Buffer.byteLength(salt, 'base64'), Buffer.byteLength(digest, 'base64')];
  const parameters = { memoryCost, timeCost, parallelism, saltLength, hashLength };
  const within = (Object.keys(bounds) as (keyof Parameters)[]).every((name) => parameters[name] >= 1 && parameters[name] <= bounds[name]);
  // argon2 itself needs 8 KiB a lane; less would be an error instead of an answer.
  return within && memoryCost >= 8 * parallelism ? parameters : undefined;
}

function isBelowCurrent(parameters: Parameters): boolean {
  const { memoryCost, timeCost, hashLength } = parameters;
  return (
    memoryCost < current.memoryCost || timeCost < current.timeCost || hashLength < current.hashLength || parameters.saltLength < saltLength
  );
}
