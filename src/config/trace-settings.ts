/**
 * The settings of traces, as the OpenTelemetry specification names them. A value that the service cannot honour is refused
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). The SDK reads headers, timeouts and limits itself.
 */
import type { Reader } from './reader.ts';

const forTraces = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const forAll = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/** Variables about signals that the service does not send, and about the protocol of traces: each name with the values that are true of it. */
const fixed: readonly (readonly [name: string, values: readonly string[], meaning: string])[] = [
  ['OTEL_METRICS_EXPORTER', ['none', 'prometheus'], 'metrics are read at /metrics'],
  ['OTEL_LOGS_EXPORTER', ['none', 'console'], 'the log goes to standard output'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', ['http/json'], 'traces are sent as JSON over HTTP'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', ['http/json'], 'traces are sent as JSON over HTTP'],
  ['OTEL_PROPAGATORS', ['tracecontext', 'tracecontext,baggage', 'baggage,tracecontext'], 'traces are continued by W3C Trace Context'],
];

/** The URL to which traces are sent; undefined without traces. */
export function readTracesUrl(read: Reader): string | undefined {
  const isDisabled = read.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const exporter = read.choice('OTEL_TRACES_EXPORTER', 'otlp', ['otlp', 'none']);
  const own = readEndpoint(read, forTraces);
  const base = readEndpoint(read, forAll);
  const url = own ?? (base && `${base.replace(/\/$/, '')}/v1/traces`);
  if (isDisabled || exporter === 'none') return undefined;
  for (const [name, values, meaning] of fixed) {
    const text = read.text(name);
    if (text !== undefined && !values.includes(text)) read.problems.push(`${name} must be ${values.join(' or ')}, or unset: ${meaning}`);
  }
  return url;
}

function readEndpoint(read: Reader, name: string): string | undefined {
  const text = read.text(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash) return text;
  read.problems.push(`${name} must be a URL such as http://collector:4318; secrets go into OTEL_EXPORTER_OTLP_HEADERS`);
  return undefined;
}
