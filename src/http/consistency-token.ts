/** The header `Consistency-Token`: where the log of the database is after a write, for reads that must see it (decision 170). */
import type { FastifyInstance } from 'fastify';
import { tokenOf } from '../database/standby/log-position.ts';
import type { PrimaryLog } from '../database/standby/primary-log.ts';

/** An operation of the contract, as far as it declares headers of its answers. */
interface AnsweringOperation {
  operationId: string;
  responses: Readonly<Record<string, { headers?: Readonly<Record<string, unknown>> }>>;
}

/**
 * Sends the header with the success of each operation whose contract declares it. An answer goes without it if the primary does not say where its log is. Call
 * this before the routes are added.
 */
export function sendConsistencyTokens(app: FastifyInstance, operations: readonly AnsweringOperation[], log: PrimaryLog): void {
  const isDeclared = ({ responses }: AnsweringOperation) =>
    Object.values(responses).some(({ headers = {} }) => 'Consistency-Token' in headers);
  const writing = new Set(operations.filter(isDeclared).map(({ operationId }) => operationId));
  app.addHook('onSend', async (request, reply, payload) => {
    const { operationId } = request.routeOptions.config;
    if (operationId === undefined || !writing.has(operationId) || reply.statusCode >= 300) return payload;
    const position = await log.afterWrites();
    if (position) reply.header('consistency-token', tokenOf(position));
    return payload;
  });
}
