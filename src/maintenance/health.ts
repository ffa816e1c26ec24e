/** Reports whether the process runs and whether it can serve requests (security rule 92). For load balancers; not part of the contract. */
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { migrationState } from '../database/migration-state.ts';
import { Problem } from '../errors.ts';

/**
 * `/health/live` depends on nothing. `/health/ready` is 503 while the database is unreachable or lacks a migration or has one beside which this version may not run, and after the process
 * has been told to stop.
 */
export function serveHealth(app: FastifyInstance, { store: { db } }: Pick<Context, 'store'>): void {
  app.decorate('stopping', false);
  app.get('/health/live', { config: { isUnlimited: true } }, async () => ({ status: 'live' }));
  app.get('/health/ready', async () => {
    if (app.stopping) throw new Problem('unavailable', { headers: { 'Retry-After': '5' } });
    const { pending, refusal } = await migrationState(db);
    if (pending.length > 0 || refusal !== undefined) throw new Problem('unavailable', { headers: { 'Retry-After': '5' } });
    return { status: 'ready' };
  });
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Set when the process has been told to stop. */
    stopping: boolean;
  }
}
