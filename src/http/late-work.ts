/** Work of requests that goes on behind its limit of time, when the client has its answer already (rule 80). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { logFailure, problemOf } from './problem.ts';

/**
 * The result of `work`; undefined if the limit of time has answered the request meanwhile. The log has a line of that answer, so a failure has one of its own
 * only if it is a bug.
 */
export async function resultInTime<T extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const result = await work();
    return reply.isLate ? undefined : result;
  } catch (error) {
    if (!reply.isLate) throw error;
    const problem = problemOf(error, request);
    if (problem.status === 500) logFailure(problem, request);
    return undefined;
  }
}
