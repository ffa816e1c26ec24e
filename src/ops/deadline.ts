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
  /** When each began, the oldest first. */
  const unanswered = new Map<FastifyReply, number>();
  app.addHook('onRequest', (_request, reply, done) => {
    unanswered.set(reply, performance.now());
    done();
  });
  app.addHook('onResponse', (_request, reply, done) => {
    unanswered.delete(reply);
    done();
  });
  const sweep = setInterval(() => {
    const oldest = performance.now() - limitMilliseconds;
    for (const [reply, since] of unanswered) {
      if (since > oldest) return;
      unanswered.delete(reply);
      cutOff(reply);
    }
  }, limitMilliseconds / 10).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweep);
    done();
  });
}

function cutOff(reply: FastifyReply): void {
  if (reply.raw.headersSent) reply.raw.destroy();
  // The client may have left without a word.
  else if (!reply.sent && !reply.raw.destroyed) reply.send(new DeadlineError('no answer in time'));
}
