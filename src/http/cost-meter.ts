/** Counts what requests cost in the ledger, and lets those of users over their share wait (rule 166). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { holderOfRequest } from '../admission/held-bytes.ts';
import type { Ledger } from '../admission/ledger.ts';

/** Counts the bytes of each answer of `app` that is not a stream. */
export function meterAnswers(app: FastifyInstance, ledger: Ledger): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) ledger.add(holderOfRequest(request), 'answered', payload.length);
    done();
  });
}

/** Lets a request with a principal wait while its user is over its share. Throws 429 after two seconds. */
export function admitByShare(ledger: Ledger, request: FastifyRequest): Promise<void> | undefined {
  return request.principal && ledger.admit(holderOfRequest(request));
}
