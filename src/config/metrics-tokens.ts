/** The bearer tokens with which Prometheus reads `/metrics`. */
import type { Reader } from './reader.ts';
import { SecretFile, type Current, type ParseSecrets } from './secret-file.ts';
import { Secret } from './secrets.ts';
import type { Config } from './settings.ts';

/** Rule 86: no secret of less than 32 bytes. The characters are those of a bearer token (RFC 6750 section 2.1). */
const shape = /^[\w.~+/-]{32,256}=*$/;
const must = 'must be 32 to 256 letters, digits or any of -._~+/ such as "openssl rand -hex 32" makes';

/** The settings METRICS_TOKEN and METRICS_TOKEN_FILE, of which at most one may be set. */
export function readMetricsSettings(read: Reader): Pick<Config, 'metricsToken' | 'metricsTokenFile'> {
  const [token, metricsTokenFile] = [read.secret('METRICS_TOKEN'), read.text('METRICS_TOKEN_FILE')];
  if (token !== undefined && metricsTokenFile !== undefined)
    read.problems.push('METRICS_TOKEN and METRICS_TOKEN_FILE are both set; keep one');
  if (token === undefined || shape.test(token.reveal())) return { metricsToken: token, metricsTokenFile };
  read.problems.push(`METRICS_TOKEN ${must}`);
  return { metricsToken: undefined, metricsTokenFile };
}

const parseTokens: ParseSecrets<readonly Secret[]> = (text, problems) => {
  const tokens: Secret[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === '') continue;
    if (shape.test(line)) tokens.push(new Secret(line));
    else problems.push(`, line ${index + 1}: ${must}`);
  }
  if (problems.length === 0 && tokens.length === 0) problems.push(' has no token: write one a line');
  return tokens;
};

/**
 * The tokens that are valid now; a {@link SecretFile} if they are in a file, and undefined if there is no `/metrics`. Throws ConfigError with every
 * problem of the file.
 */
export async function openMetricsTokens({
  metricsToken,
  metricsTokenFile,
}: Pick<Config, 'metricsToken' | 'metricsTokenFile'>): Promise<Current<readonly Secret[]> | undefined> {
  return metricsTokenFile === undefined
    ? metricsToken && { current: [metricsToken] }
    : await SecretFile.open('METRICS_TOKEN_FILE', metricsTokenFile, parseTokens);
}
