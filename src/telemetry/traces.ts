/**
 * OpenTelemetry traces: a span for every request and one for each thing it waits for, sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT by
 * OTLP over HTTP. Loaded only where that is set. No attribute holds what a caller sends, nor a value of a statement.
 */
import {
  diag,
  DiagLogLevel,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type DiagLogger,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/settings.ts';
import { operationOf } from './operation-name.ts';
import type { OpenScope, TraceScope, SpanDescription } from './spans.ts';

export interface Traces {
  open: OpenScope;
  /** Sends the remaining spans; has no time limit. */
  close(): Promise<void>;
}

export interface TraceOptions {
  url: string;
  sampler: Config['traceSampler'];
  share: number;
  /** Whether the traces of a socket's remote address are continued, with their sampling decision. */
  isTrusted: (address: string | undefined) => boolean;
  version: string;
}

/** Starts tracing, with the service name and attributes of the environment. `onError` gets the errors of spans that could not be sent. */
export function openTraces({ url, sampler, share, isTrusted, version }: TraceOptions, onError: (error: unknown) => void): Traces {
  setGlobalErrorHandler(onError);
  // The exporter reports dropped spans, for which its queue had no room, as a warning.
  const told = (message: string) => onError(new Error(message));
  diag.setLogger({ ...silent, warn: told }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'entity-service', 'service.version': version }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: samplerOf(sampler, share),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  const tracer = provider.getTracer('entity-service', version);
  return {
    open: (request, reply) => openRequest(tracer, isTrusted, request, reply),
    close: () => provider.shutdown().catch(onError),
  };
}

const ignore = () => undefined;
const silent: DiagLogger = { error: ignore, warn: ignore, info: ignore, debug: ignore, verbose: ignore };

function samplerOf(name: TraceOptions['sampler'], share: number): Sampler {
  const always = name.endsWith('on') ? new AlwaysOnSampler() : new AlwaysOffSampler();
  const root = name.endsWith('ratio') ? new TraceIdRatioBasedSampler(share) : always;
  return name.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root;
}

const propagator = new W3CTraceContextPropagator();

function openRequest(
  tracer: Tracer,
  isTrusted: (address: string | undefined) => boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): TraceScope | undefined {
  const { config, url } = request.routeOptions;
  // An untrusted client could write into traces of others, or prevent that its own requests are recorded.
  const parent = isTrusted(request.socket.remoteAddress)
    ? propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
    : ROOT_CONTEXT;
  const attributes = {
    'http.request.method': request.method,
    ...(url !== undefined && { 'http.route': url }),
    'entity_service.request_id': request.id,
  };
  const span = tracer.startSpan(operationOf(config.operationId, url), { kind: SpanKind.SERVER, attributes }, parent);
  request.traceId = span.spanContext().traceId;
  if (!span.isRecording()) return undefined;
  reply.raw.once('close', () => {
    span.setAttribute('http.response.status_code', reply.raw.statusCode);
    if (request.problemCode !== '') span.setAttribute('error.type', request.problemCode);
    if (reply.raw.statusCode >= 500 || !reply.raw.writableFinished) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
  return new SpanScope(tracer, trace.setSpan(parent, span));
}

class SpanScope implements TraceScope {
  readonly #tracer: Tracer;
  readonly #context: Context;

  constructor(tracer: Tracer, context: Context) {
    this.#tracer = tracer;
    this.#context = context;
  }

  begin({ kind, name, attributes = {} }: SpanDescription): { inner: TraceScope; end: (error?: unknown) => void } {
    const spanKind = kind === 'database' || kind === 'issuer' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#tracer.startSpan(name, { kind: spanKind, attributes }, this.#context);
    return { inner: new SpanScope(this.#tracer, trace.setSpan(this.#context, span)), end: (error) => endSpan(span, error) };
  }
}

/** The error's type only: its message may quote a value. */
function endSpan(span: Span, error: unknown): void {
  if (error !== undefined) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
    span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : 'unknown'));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
