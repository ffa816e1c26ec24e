/**
 * Passwords into argon2id hashes and back into a yes or no. It knows no users and no limits on guessing; the stored form is the PHC
 * string, which names the pepper that is part of it. Every call costs about 20 ms of a core, so each goes through the gate, and never inside
 * a database transaction.
 */
import { randomBytes } from 'node:crypto';
import { argon2id, hash, verify } from 'argon2';
import { Problem } from '../errors.ts';
import { spanning } from '../telemetry/spans.ts';
import type { BoundedQueue } from '../http/concurrency-limit.ts';
import { normalisePassword } from './normalise.ts';
import type { Pepper, Peppers } from './pepper.ts';

/** What new hashes are made with (rule 36); the library's own defaults cost four times as much. */
const current = { memoryCost: 19_456, timeCost: 2, parallelism: 1, hashLength: 32 };
const saltLength = 16;
const version = 19;

/** Beyond these a stored hash is not computed: one poisoned row must not take the memory of the process (rule 37). */
const bounds = { memoryCost: 262_144, timeCost: 10, parallelism: 4, saltLength: 64, hashLength: 128 };

/** As PHC strings have it. */
const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** Without a stored hash this one is verified: the same work with an answer nobody can hit, as no password was ever hashed into it. */
const dummy = phc(randomBytes(saltLength), randomBytes(current.hashLength));

/** What the work on passwords needs; the context of a process has both. */
export interface Hashing {
  gate: BoundedQueue;
  peppers: Peppers;
}

export interface Verification {
  matches: boolean;
  /** The password matches a hash of lesser parameters than today's, or with another pepper; store a new one. */
  outdated: boolean;
  /** Why the stored hash was refused unseen; undefined when it was not, or there is none. Somebody should look at that row. */
  unusable: string | undefined;
}

/** The PHC string to store. Throws `malformed-request` for a lone surrogate, `busy` when the gate is full. */
export async function hashPassword({ gate, peppers: [pepper] }: Hashing, password: string): Promise<string> {
  const normal = normalisePassword(password);
  if (normal === undefined) throw new Problem('malformed-request');
  const salt = randomBytes(saltLength);
  const options = {
    ...current,
    type: argon2id,
    version,
    salt,
    raw: true,
    ...(pepper && { secret: Buffer.from(pepper.secret.reveal()) }),
  } as const;
  const digest = await gate.run(() => spanning({ kind: 'password', name: 'argon2 hash' }, () => hash(Buffer.from(normal), options)));
  return phc(salt, digest, pepper?.id);
}

/**
 * Compares a password with a stored hash. Undefined stands for a user who does not exist or has no password: it never matches and takes
 * the same time, so that nobody learns which names exist (rule 42). Throws `busy` when the gate is full; nothing has been compared then.
 */
export async function verifyPassword({ gate, peppers }: Hashing, storedHash: string | undefined, password: string): Promise<Verification> {
  const normal = normalisePassword(password);
  const stored = storedHash === undefined ? undefined : readStored(storedHash, peppers);
  const target = stored?.unusable === undefined && normal !== undefined ? storedHash : undefined;
  const pepper = target === undefined ? peppers[0] : stored?.pepper;
  const options = pepper && { secret: Buffer.from(pepper.secret.reveal()) };
  const equal = await gate.run(() =>
    spanning({ kind: 'password', name: 'argon2 verify' }, () => verify(target ?? dummy, Buffer.from(normal ?? password), options)),
  );
  const matches = equal && target !== undefined;
  const outdated = matches && stored !== undefined && (stored.isBelowCurrent || stored.pepper !== peppers[0]);
  return { matches, outdated, unusable: stored?.unusable };
}

/** Written by hand because the library puts the parameters in an order which other readers of PHC strings refuse, and knows no `keyid`. */
function phc(salt: Buffer, digest: Buffer, pepperId?: string): string {
  const { memoryCost: m, timeCost: t, parallelism: p } = current;
  const keyId = pepperId === undefined ? '' : `,keyid=${unpadded(Buffer.from(pepperId))}`;
  return `$argon2id$v=${version}$m=${m},t=${t},p=${p}${keyId}$${unpadded(salt)}$${unpadded(digest)}`;
}

type Parameters = typeof bounds;

/** What a stored hash says of itself. */
interface Stored {
  unusable: string | undefined;
  isBelowCurrent: boolean;
  pepper: Pepper | undefined;
}

const form =
  /^\$argon2id\$v=19\$([mtp]=\d{1,7}(?:,[mtp]=\d{1,7}){2})(?:,keyid=([A-Za-z0-9+/]{2,11}))?\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{16,})$/;

/** Reads a PHC string strictly. Another kind of hash, another form, or what is out of bounds is unusable, and so is an unknown pepper. */
function readStored(stored: string, peppers: Peppers): Stored {
  const [, costs = '', keyId, salt = '', digest = ''] = form.exec(stored) ?? [];
  const cost = (name: string) => Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(costs)?.[1] ?? 0);
  const parameters: Parameters = {
    memoryCost: cost('m'),
    timeCost: cost('t'),
    parallelism: cost('p'),
    saltLength: Buffer.byteLength(salt, 'base64'),
    hashLength: Buffer.byteLength(digest, 'base64'),
  };
  const pepper = keyId === undefined ? undefined : peppers.find(({ id }) => unpadded(Buffer.from(id)) === keyId);
  let unusable: string | undefined;
  if (!isWithinBounds(parameters)) unusable = 'it is not argon2id within bounds';
  else if (keyId !== undefined && !pepper)
    unusable = `its pepper ${Buffer.from(keyId, 'base64').toString()} is not in PASSWORD_PEPPER_FILE`;
  return { unusable, isBelowCurrent: isBelowCurrent(parameters), pepper };
}

function isWithinBounds(parameters: Parameters): boolean {
  const names = Object.keys(bounds) as (keyof Parameters)[];
  // argon2 itself needs 8 KiB a lane; less would be an error instead of an answer.
  const enough = parameters.memoryCost >= 8 * parameters.parallelism;
  return enough && names.every((name) => parameters[name] >= 1 && parameters[name] <= bounds[name]);
}

function isBelowCurrent(parameters: Parameters): boolean {
  const { memoryCost, timeCost, hashLength } = parameters;
  return (
    memoryCost < current.memoryCost || timeCost < current.timeCost || hashLength < current.hashLength || parameters.saltLength < saltLength
  );
}
