/**
 * `npm run check:packages`: queries the registry for known vulnerabilities of the production packages, and for the signatures of all
 * packages. Fails on a finding. If the registry does not answer, the check passes and its line says `not asked` (rule 93).
 */
import { readOptions } from '../lib/options.ts';
import { npmOutput } from './npm.ts';
import { judgeAudit, judgeSignatures } from './verdict.ts';

const usage = `npm run check:packages -- [options]

  --help  print this
`;

readOptions('check:packages', usage, {});
/** One attempt of at most 20 seconds, so that an unresponsive registry does not delay CI for minutes. */
const network = ['--fetch-retries=0', '--fetch-timeout=20000'];

const verdicts = {
  'npm audit --omit=dev': judgeAudit(await npmOutput('audit', '--omit=dev', '--json', ...network)),
  'npm audit signatures': judgeSignatures(await npmOutput('audit', 'signatures', '--json', ...network)),
};
for (const [command, { status, detail }] of Object.entries(verdicts)) {
  process.stdout.write(`${command}: ${status}: ${detail}\n`);
  if (status === 'failed') process.exitCode = 1;
}
