/** Moves the database's clock for the rows of one test, by changing their timestamps. */
import { sql } from 'kysely';
import { hashToken } from '../../src/sessions/token.ts';
import type { TestService } from './service.ts';

const hashOf = (cookie: string) => hashToken(cookie.slice(cookie.indexOf('=') + 1));

/** The row of the session whose present token is in this cookie. Throws when there is none. */
export function sessionOf({ db }: TestService, cookie: string) {
  return db.selectFrom('session').where('token_hash', '=', hashOf(cookie)).selectAll().executeTakeFirstOrThrow();
}

/**
 * Sets the time at which tokens were superseded to `seconds` ago: of the token in this cookie, or of all tokens of a session. The times of their refreshes move
 * by as much.
 */
export async function agingToken(service: TestService, cookie: string | undefined, seconds: number, sessionId?: string): Promise<void> {
  await service.db
    .updateTable('superseded_token')
    .set({
      superseded_at: sql`now() - make_interval(secs => ${seconds})`,
      refreshed_at: sql`refreshed_at + (now() - make_interval(secs => ${seconds}) - superseded_at)`,
    })
    .$if(cookie !== undefined, (query) => query.where('token_hash', '=', hashOf(cookie ?? '')))
    .$if(sessionId !== undefined, (query) => query.where('session_id', '=', sessionId ?? ''))
    .execute();
}
