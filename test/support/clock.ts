/** Moves the database's clock for what one test made, by moving what is written in its rows. */
import { sql } from 'kysely';
import { hashToken } from '../../src/sessions/token.ts';
import type { TestService } from './service.ts';

const hashOf = (cookie: string) => hashToken(cookie.slice(cookie.indexOf('=') + 1));

/** The row of the session whose present token this cookie carries. Throws when there is none. */
export function sessionOf({ db }: TestService, cookie: string) {
  return db.selectFrom('session').where('token_hash', '=', hashOf(cookie)).selectAll().executeTakeFirstOrThrow();
}

/** Makes it `seconds` ago that the tokens were superseded: the one this cookie carries, or all of a session. */
export async function agingToken(service: TestService, cookie: string | undefined, seconds: number, sessionId?: string): Promise<void> {
  await service.db
    .updateTable('superseded_token')
    .set({ superseded_at: sql`now() - make_interval(secs => ${seconds})` })
    .$if(cookie !== undefined, (query) => query.where('token_hash', '=', hashOf(cookie ?? '')))
    .$if(sessionId !== undefined, (query) => query.where('session_id', '=', sessionId ?? ''))
    .execute();
}
