/**
 * Joins the parts of a body as they arrive. Node makes a buffer of each part, with 400 bytes besides its content, and Fastify keeps them until the
 * body is complete: a body of 1 MB in parts of one byte would hold 430 MB (rule 80).
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, RequestPayload } from 'fastify';
import { GrowingBuffer } from '../json/growing-buffer.ts';

/** Joins all bodies but those that have arrived already, and those that a handler reads while they arrive. */
export function joinBodies(app: FastifyInstance): void {
  app.addHook('preParsing', ({ raw, headers, routeOptions: { bodyLimit, config } }, _reply, payload, done) => {
    const hasArrived = Number(headers['content-length'] ?? (headers['transfer-encoding'] ? NaN : 0)) === raw.readableLength;
    done(null, hasArrived || config.streamsBody ? payload : joined(payload, bodyLimit));
  });
}

/** The same bytes as one part. It begins to read `parts` when it is read. What exceeds `limit` comes as it arrives, because Fastify refuses it then. */
function joined(parts: RequestPayload, limit: number): Readable {
  return Readable.from(joinParts(parts, limit), { objectMode: false });
}

async function* joinParts(parts: RequestPayload, limit: number): AsyncGenerator<Buffer> {
  const bytes = new GrowingBuffer();
  // Otherwise a refusal would destroy the connection, and with it the answer.
  for await (const part of (parts as Readable).iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes.append(part);
    if (bytes.length > limit) yield bytes.take();
  }
  if (bytes.length > 0) yield bytes.take();
}
