/**
 * No request waits for its answer for ever (security rule 80). Fastify's own `handlerTimeout` gives each request a timer and an
 * AbortController, which costs more than routing it, and lets go of both as soon as a body has been read; here one timer looks after all.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Thrown in place of an answer that did not come in time; `http/problem.ts` says what that is to the caller. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Answers a request to `app` with a {@link DeadlineError} when nothing else has within `limitMilliseconds` and a tenth, counted from its
 * head; an answer that has begun by then is cut off. What the handler is doing goes on, and its answer is dropped.
 */
export function answerInTime(app: FastifyInstance, limitMilliseconds: number): void {
  // Places that are used again, since a Map would make itself a new table from time to time: an old one is garbage that young collections do
  // not see, and keeps alive what was in it.
  const unanswered: ({ reply: FastifyReply; since: number } | undefined)[] = [];
  const free: number[] = [];
  app.decorateReply('begun', false);
  app.addHook('onRequest', (_request, reply, done) => {
    const place = free.pop() ?? unanswered.length;
    unanswered[place] = { reply, since: performance.now() };
    // Also when the client has left, of which Fastify's own hooks do not hear.
    reply.raw.once('close', () => {
      unanswered[place] = undefined;
      free.push(place);
    });
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.begun = true;
    done();
  });
  const sweep = setInterval(() => {
    const oldest = performance.now() - limitMilliseconds;
    unanswered.forEach((request, place) => {
      if (!request || request.since > oldest) return;
      unanswered[place] = undefined;
      const { reply } = request;
      // A second answer would be one too many, and the end of the process.
      if (reply.begun || reply.raw.headersSent) {
        reply.log.warn({ event: 'outage' }, 'an answer took too long and was cut off');
        reply.raw.destroy();
      } else if (!reply.sent) reply.send(new DeadlineError('no answer in time'));
    });
  }, limitMilliseconds / 10).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweep);
    done();
  });
}

declare module 'fastify' {
  interface FastifyReply {
    /** Its answer is being sent. */
    begun: boolean;
  }
}
