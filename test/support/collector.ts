/** A collector of traces that speaks OTLP over HTTP and stores what it receives. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}

interface RawSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status: { code?: number };
}

interface Payload {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: RawSpan[] }[] }[];
}

export interface CollectedSpan extends Omit<RawSpan, 'attributes'> {
  attributes: Record<string, string | number | undefined>;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** All received bodies, unparsed. */
  text(): string;
}

const valuesOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** Closed by `finished`: by default when the test is over. */
export async function startCollector(finished: (close: () => Promise<void>) => void = onTestFinished): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const payload = (await json(request)) as Payload;
    texts.push(JSON.stringify(payload));
    const sent = payload.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    for (const span of sent) spans.push({ ...span, attributes: valuesOf(span.attributes) });
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, text: () => texts.join('\n') };
}
