/**
 * Limits the time of each answer (security rule 80). Fastify's own `handlerTimeout` creates a timer and an AbortController for each
 * request, which costs more than routing it. It also removes both as soon as a body has been read. Here one timer serves all requests.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Thrown in place of a late answer; `http/problem.ts` decides which problem the caller gets. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Answers a request to `app` with a {@link DeadlineError} if there is no other answer within 1 to 1.1 times `answerLimitMs`, counted
 * from its start. An answer that has begun by then is cut off, unless the operation streams it. The handler goes on, and its answer is dropped.
 */
export function answerInTime(app: FastifyInstance, answerLimitMs: number): void {
  // An array with reused places. A Map would allocate a new table from time to time. The old table is garbage that young collections do not
  // free, and it retains its entries.
  const unanswered: ({ reply: FastifyReply; since: number } | undefined)[] = [];
  const free: number[] = [];
  app.decorateReply('begun', false);
  app.decorateReply('isLate', false);
  app.addHook('onRequest', (_request, reply, done) => {
    const place = free.pop() ?? unanswered.length;
    unanswered[place] = { reply, since: performance.now() };
    // Also emitted when the client has hung up, unlike Fastify's own hooks.
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
    const oldest = performance.now() - answerLimitMs;
    unanswered.forEach((request, place) => {
      if (!request || request.since > oldest) return;
      unanswered[place] = undefined;
      const { reply } = request;
      // A second answer would throw and end the process.
      if (reply.begun || reply.raw.headersSent) {
        if (reply.request.routeOptions.config.streamsAnswer) return;
        reply.log.warn({ event: 'outage' }, 'an answer took too long and was cut off');
        reply.raw.destroy();
      } else if (!reply.sent) {
        reply.isLate = true;
        reply.send(new DeadlineError('no answer in time'));
      }
    });
  }, answerLimitMs / 10).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweep);
    done();
  });
}

declare module 'fastify' {
  interface FastifyReply {
    /** Whether the answer is being sent. */
    begun: boolean;
    /** Whether the limit of time has answered, so that the answer of the handler is dropped. */
    isLate: boolean;
  }
}
