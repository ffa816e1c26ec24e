/**
 * Hashes and verifies passwords with argon2id. The stored form is the PHC string, which names the pepper that is part of the hash. Each
 * call costs about 20 ms of a core, so it runs in the class `hashing` and never inside a database transaction. This file knows neither users nor
 * limits on guessing.
 */
import { randomBytes } from 'node:crypto';
import { argon2id, hash, verify } from 'argon2';
import { Problem } from '../problems/errors.ts';
import { withSpan } from '../telemetry/spans.ts';
import type { Admission } from '../admission/admission.ts';
import { normalisePassword } from './normalise.ts';
import type { Pepper, Peppers } from './pepper.ts';

/** Attempts of one account or address have limits of their own. */
const everyAccount = { flow: '' };

/** The parameters of new hashes (rule 36); the library's own defaults cost four times as much. */
const current = { memoryCost: 19_456, timeCost: 2, parallelism: 1, hashLength: 32 };
const saltLength = 16;
const version = 19;

/** A stored hash beyond these bounds is not computed, so that one manipulated row cannot exhaust the memory of the process (rule 37). */
const bounds = { memoryCost: 262_144, timeCost: 10, parallelism: 4, saltLength: 64, hashLength: 128 };

/** Base64 as in PHC strings. */
const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** Verified if there is no stored hash. It costs the same time and matches no password, because its digest is random. */
const dummy = phc(randomBytes(saltLength), randomBytes(current.hashLength));

/** The admission and the peppers that password hashing needs; the context of a process has both. */
export interface Hashing {
  admission: Pick<Admission, 'run'>;
  readonly peppers: Peppers;
  /** Reads the file of the peppers again, for a hash whose pepper may be new; undefined for peppers that do not change. Never throws. */
  renewPeppers?: (() => Promise<void>) | undefined;
}

export interface Verification {
  matches: boolean;
  /**
   * Whether the password matches a hash with weaker parameters than the present ones, or with another pepper. The caller then stores a new
   * hash.
   */
  outdated: boolean;
  /** Why the stored hash was not computed; undefined if it was computed, or there is none. An operator should check the row. */
  unusable: string | undefined;
}

/** The PHC string to store. Throws `malformed-request` for a lone surrogate, `busy` when too many hashes wait. */
export async function hashPassword({ admission, peppers: [pepper] }: Hashing, password: string): Promise<string> {
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
  const digest = await admission.run('hashing', everyAccount, () =>
    withSpan({ kind: 'password', name: 'argon2 hash' }, () => hash(Buffer.from(normal), options)),
  );
  return phc(salt, digest, pepper?.id);
}

/**
 * Compares a password with a stored hash. Undefined stands for a user who does not exist or has no password. It never matches and takes the
 * same time, so the time does not reveal which names exist (rule 42). Throws `busy`, without a comparison, when too many hashes wait.
 */
export async function verifyPassword(hashing: Hashing, storedHash: string | undefined, password: string): Promise<Verification> {
  const normal = normalisePassword(password);
  const { peppers, stored } = await recognise(hashing, storedHash);
  const target = stored?.unusable === undefined && normal !== undefined ? storedHash : undefined;
  const pepper = target === undefined ? peppers[0] : stored?.pepper;
  const options = pepper && { secret: Buffer.from(pepper.secret.reveal()) };
  const equal = await hashing.admission.run('hashing', everyAccount, () =>
    withSpan({ kind: 'password', name: 'argon2 verify' }, () => verify(target ?? dummy, Buffer.from(normal ?? password), options)),
  );
  const matches = equal && target !== undefined;
  const outdated = matches && stored !== undefined && (stored.isBelowCurrent || stored.pepper !== peppers[0]);
  return { matches, outdated, unusable: stored?.unusable };
}

/** Reads a stored hash. If another process has just made it with a pepper that this one does not have yet, the peppers are read again first. */
async function recognise(hashing: Hashing, storedHash: string | undefined): Promise<{ peppers: Peppers; stored: Stored | undefined }> {
  if (storedHash === undefined) return { peppers: hashing.peppers, stored: undefined };
  if (hashing.renewPeppers !== undefined && readStored(storedHash, hashing.peppers).lacksPepper) await hashing.renewPeppers();
  const { peppers } = hashing;
  return { peppers, stored: readStored(storedHash, peppers) };
}

/** Own code, because the library orders the parameters in a way that other readers of PHC strings reject, and does not support `keyid`. */
function phc(salt: Buffer, digest: Buffer, pepperId?: string): string {
  const { memoryCost: m, timeCost: t, parallelism: p } = current;
  const keyId = pepperId === undefined ? '' : `,keyid=${unpadded(Buffer.from(pepperId))}`;
  return `$argon2id$v=${version}$m=${m},t=${t},p=${p}${keyId}$${unpadded(salt)}$${unpadded(digest)}`;
}

type Parameters = typeof bounds;

/** The parts of a stored hash. */
interface Stored {
  unusable: string | undefined;
  isBelowCurrent: boolean;
  pepper: Pepper | undefined;
  /** Whether the hash names a pepper that is not among those of the process. */
  lacksPepper: boolean;
}

const form =
  /^\$argon2id\$v=19\$([mtp]=\d{1,7}(?:,[mtp]=\d{1,7}){2})(?:,keyid=([A-Za-z0-9+/]{2,11}))?\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{16,})$/;

/** Reads a PHC string strictly. Another kind of hash, another form, parameters out of bounds and an unknown pepper are unusable. */
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
  const lacksPepper = keyId !== undefined && !pepper;
  let unusable: string | undefined;
  if (!isWithinBounds(parameters)) unusable = 'it is not argon2id within bounds';
  else if (lacksPepper) unusable = `its pepper ${Buffer.from(keyId, 'base64').toString()} is not in PASSWORD_PEPPER_FILE`;
  return { unusable, isBelowCurrent: isBelowCurrent(parameters), pepper, lacksPepper };
}

function isWithinBounds(parameters: Parameters): boolean {
  const names = Object.keys(bounds) as (keyof Parameters)[];
  // argon2 requires 8 KiB for each lane and throws an error for less.
  const enough = parameters.memoryCost >= 8 * parameters.parallelism;
  return enough && names.every((name) => parameters[name] >= 1 && parameters[name] <= bounds[name]);
}

function isBelowCurrent(parameters: Parameters): boolean {
  const { memoryCost, timeCost, hashLength } = parameters;
  return (
    memoryCost < current.memoryCost || timeCost < current.timeCost || hashLength < current.hashLength || parameters.saltLength < saltLength
  );
}
