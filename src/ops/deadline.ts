/**
 * No request waits for its answer for ever (security rule 80). Fastify's own `handlerTimeout` gives each request a timer and an
 * AbortController, which costs more than routing it, and lets go of both as soon as a body has been read; here one timer looks after all.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Thrown in place of an answer that did not come in time; `api/problem.ts` says what that is to the caller. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Answers a request to `app` with a {@link DeadlineError} when nothing else has within `limitMilliseconds` and a tenth, counted from its
 * head; an answer that has begun by then is cut off. What the handler is doing goes on, and its answer is dropped.
 */
export function answerInTime(app: FastifyInstance, limitMilliseconds: number): void {
  /** When each began, the oldest first, and whether it is being answered. */
  const unanswered = new Map<FastifyReply, { since: number; begun: boolean }>();
  app.addHook('onRequest', (_request, reply, done) => {
    unanswered.set(reply, { since: performance.now(), begun: false });
    // Also when the client has left, of which Fastify's own hooks do not hear.
    reply.raw.once('close', () => unanswered.delete(reply));
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    const request = unanswered.get(reply);
    if (request) request.begun = true;
    done();
  });
  const sweep = setInterval(() => {
    const oldest = performance.now() - limitMilliseconds;
    for (const [reply, { since, begun }] of unanswered) {
      if (since > oldest) return;
      unanswered.delete(reply);
      // A second answer would be one too many, and the end of the process.
      if (begun || reply.raw.headersSent) {
        reply.log.warn({ event: 'outage' }, 'an answer took too long and was cut off');
        reply.raw.destroy();
      } else if (!reply.sent) reply.send(new DeadlineError('no answer in time'));
    }
  }, limitMilliseconds / 10).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweep);
    done();
  });
}
