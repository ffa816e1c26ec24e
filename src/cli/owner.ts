/** The administrator who runs the command. Access to the database makes them its owner. */
import { userInfo } from 'node:os';
import type { Actor, Owner } from '../rights/administration.ts';

/** The right of `actor` to every administration (rule 169). */
export function asOwner(actor: Actor): Owner {
  return { actor } as Owner;
}

/**
 * The operating system's user that runs this process. The name comes from the operating system, not from the environment (`USER`). A user
 * without a name, as in a container with a user id of its own, is `uid 10001`.
 */
export function operatingSystemUser(): Actor {
  return { name: userName(), origin: undefined, via: 'cli' };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
