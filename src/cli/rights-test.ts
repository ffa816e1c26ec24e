/** `rights test`: the cases of files in a scratch database. */
import type { Command } from 'commander';
import { problemsOf, readRightsDirectory, type RightsFiles } from '../administration/rights/read-directory.ts';
import { RefusedRights } from '../administration/rights/check.ts';
import { testRights, type CaseResult } from '../administration/rights/test-cases.ts';
import { ConfigError } from '../config/settings.ts';
import { InvalidArgumentError } from 'commander';
import { addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, Refusal, type CommandOutcome } from './output.ts';
import { claimsOf } from './rights-claims.ts';

interface RightsTestOptions {
  scratch?: string;
}

export function testCommand(rights: Command, desk: Desk): void {
  addCommand(rights, 'test', 'run the cases of files in a scratch database', [
    'rights test rights/',
    'rights test rights/ --scratch postgres://localhost/postgres',
  ])
    .argument('<directory>', 'the directory with roles/, profiles/, attributes.yaml and cases/')
    .option('--scratch <url>', 'a server on which the command may make databases (default: an embedded one)', serverUrl)
    .action((directory: string, options: Shown & RightsTestOptions) =>
      onDatabase(desk, options, (admin) => test(admin, directory, options)),
    );
}

function serverUrl(text: string): string {
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('Give a URL such as postgres://localhost/postgres; PGPASSWORD may have the password.');
}

async function test(admin: Admin, directory: string, { scratch }: RightsTestOptions): Promise<CommandOutcome> {
  const files = await readRightsDirectory(directory, 'rights');
  const results = await runCases(admin, files, scratch);
  const failed = results.filter(({ failure }) => failure !== null);
  const text = [...failed.map(describeFailure), `${results.length - failed.length} of ${results.length} cases hold.`].join('\n');
  const failure = `${failed.length} ${failed.length === 1 ? 'case fails' : 'cases fail'}`;
  return { document: { cases: results }, text, ...(failed.length > 0 && { failure }) };
}

/** The outcome of each case. Throws {@link Refusal} if there is none. */
export async function runCases(admin: Admin, files: RightsFiles, scratchUrl?: string): Promise<CaseResult[]> {
  const request = { files, scratchUrl, prune: false, claims: await claimsOf(admin) };
  const results = await testRights(admin.store.db, request).catch((error: unknown) => {
    throw error instanceof RefusedRights ? new ConfigError(problemsOf(error, files, 'rights')) : error;
  });
  if (results.length === 0) throw new Refusal('the directory has no cases');
  return results;
}

/** A case that fails, for people. */
export const describeFailure = ({ file, name, failure }: CaseResult): string => printableText(`${file}: ${name}: ${failure}`);
