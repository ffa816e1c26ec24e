/** Reports whether the process runs and whether it can serve requests (security rule 92). For load balancers; not part of the contract. */
import type { FastifyInstance } from 'fastify';
import type { MonitoringContext } from './context.ts';
import { migrationState, type MigrationState } from '../database/migration-state.ts';
import { Problem } from '../problems/errors.ts';

/** Requests that arrive within this time share one look at the database. */
const sharedMs = 200;

/**
 * `/health/live` depends on nothing. `/health/ready` is 503 while the database is unreachable, lacks a migration, or has one beside which
 * this version may not run. It is also 503 after the process has been told to stop. Neither counts for the limit of an address, so that a
 * flood from the address of a load balancer does not end its checks (decision 191).
 */
export function serveHealth(app: FastifyInstance, { store: { db } }: Pick<MonitoringContext, 'store'>): void {
  app.decorate('stopping', false);
  let latest: { state: Promise<MigrationState>; since: number } | undefined;
  const sharedState = () => {
    const since = performance.now();
    if (!latest || since - latest.since >= sharedMs) latest = { state: migrationState(db), since };
    return latest.state;
  };
  app.get('/health/live', { config: { isUnlimited: true } }, async () => ({ status: 'live' }));
  app.get('/health/ready', { config: { isUnlimited: true } }, async () => {
    if (app.stopping) throw new Problem('unavailable', { headers: { 'Retry-After': '5' } });
    const { pending, refusal } = await sharedState();
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
