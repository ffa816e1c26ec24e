/** Interprets the output of `npm audit --json` and `npm audit signatures --json` (rule 93). */

export interface Verdict {
  /** `not asked`: the registry did not answer, so the result is unknown. */
  status: 'passed' | 'failed' | 'not asked';
  detail: string;
}

interface AuditReport {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
  /** Present in place of a report when the registry refuses the request or is unreachable. */
  message?: string;
  error?: NpmError;
}

interface SignatureReport {
  invalid?: SignedPackage[];
  missing?: SignedPackage[];
  error?: NpmError;
}

interface NpmError {
  code?: string;
  summary?: string;
}

interface SignedPackage {
  name: string;
  version: string;
}

const failingSeverities = ['high', 'critical'];

/** A finding of severity high or critical fails; a lower one is only listed. */
export function judgeAudit(output: string): Verdict {
  const report = parseReport(output) as AuditReport | undefined;
  if (!report) return { status: 'failed', detail: `npm audit printed no JSON: ${output.slice(0, 200)}` };
  const { auditReportVersion, vulnerabilities = {}, message, error } = report;
  if (auditReportVersion === undefined) {
    return message === undefined ? judgeError(error) : { status: 'not asked', detail: message };
  }
  const findings = Object.entries(vulnerabilities);
  const detail = findings.map(([name, { severity, via }]) => `${name}: ${severity}: ${via.map(describeCause).join(', ')}`).join('\n');
  if (findings.some(([, { severity }]) => failingSeverities.includes(severity))) return { status: 'failed', detail };
  return { status: 'passed', detail: detail || 'no known vulnerability' };
}

/** A wrong signature fails, and so does a package without one. */
export function judgeSignatures(output: string): Verdict {
  const report = parseReport(output) as SignatureReport | undefined;
  if (!report) return { status: 'failed', detail: `npm audit signatures printed no JSON: ${output.slice(0, 200)}` };
  const { invalid, missing, error } = report;
  if (!invalid || !missing) return judgeError(error);
  const faults = [
    ...invalid.map(({ name, version }) => `${name}@${version}: invalid signature`),
    ...missing.map(({ name, version }) => `${name}@${version}: no signature`),
  ];
  if (faults.length > 0) return { status: 'failed', detail: faults.join('\n') };
  return { status: 'passed', detail: 'every package has a valid signature' };
}

/** Codes of a server that is unreachable or does not have the answer: HTTP statuses (`E405`) and network errors. */
const noAnswerCodes =
  /^(E[45]\d\d|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$/;
/** npm's message when the registry publishes no keys for signatures. */
const noKeys = 'installed from a supported registry';

function judgeError({ code = '', summary = '' }: NpmError = {}): Verdict {
  const detail = [code, summary].filter(Boolean).join(': ') || 'npm gave no reason';
  return { status: noAnswerCodes.test(code) || summary.includes(noKeys) ? 'not asked' : 'failed', detail };
}

const describeCause = (cause: string | { title: string; url: string }) =>
  typeof cause === 'string' ? `through ${cause}` : `${cause.title} (${cause.url})`;

function parseReport(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
