/** `identity …`: links between subjects of issuers and users. */
import { InvalidArgumentError, type Command } from 'commander';
import { isSubject } from '../oidc/tokens/claims.ts';
import { readIssuers, type Issuer } from '../oidc/issuers-file/read.ts';
import { listIdentities, type Identity } from '../accounts/identities.ts';
import { getNamedRow } from '../accounts/named-rows.ts';
import { linkUserIdentity, unlinkUserIdentity } from '../administration/identities/use-cases.ts';
import { userName } from './arguments.ts';
import { addGroup, addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, Refusal, tableText, timeText, type CommandOutcome } from './output.ts';

const issuerOption = ['--issuer <url>', 'the issuer, by its URL exactly as its tokens carry it, or by its id in ISSUERS_FILE'] as const;
const subjectOption = ['--subject <sub>', 'the subject, exactly as its tokens carry it'] as const;

export function identityCommands(program: Command, desk: Desk): void {
  const identities = addGroup(program, 'identity', 'identities: links between users and subjects of trusted issuers', [
    'identity link ada --issuer https://login.example.com --subject 24400320',
    'identity list ada',
  ]);
  addCommand(identities, 'link', 'link a subject of an issuer to a user', [
    'identity link ada --issuer https://login.example.com --subject 24400320',
    'identity link ada --issuer corp --subject 24400320',
  ])
    .argument('<user>', 'the user', userName)
    .requiredOption(...issuerOption)
    .requiredOption(...subjectOption, subject)
    .action((user: string, options: Shown & Identity) => onDatabase(desk, options, (admin) => link(admin, user, options)));
  addCommand(identities, 'unlink', 'end the link, and the sessions that the user opened through this issuer', [
    'identity unlink ada --issuer https://login.example.com --subject 24400320',
  ])
    .argument('<user>', 'the user', userName)
    .requiredOption(...issuerOption)
    .requiredOption(...subjectOption, subject)
    .action((user: string, options: Shown & Identity) => onDatabase(desk, options, (admin) => unlink(admin, user, options)));
  addCommand(identities, 'list', 'list the links', ['identity list', 'identity list ada --json'])
    .argument('[user]', 'only those of this user', userName)
    .action((user: string | undefined, options: Shown) => onDatabase(desk, options, (admin) => list(admin, user)));
}

function subject(text: string): string {
  if (!isSubject(text)) throw new InvalidArgumentError('A subject has 1 to 255 characters, none of them a control character.');
  return text;
}

async function link({ desk, by, config, store }: Admin, user: string, { issuer: named, subject }: Identity): Promise<CommandOutcome> {
  const issuers = await readIssuers(config.issuersFile, desk.environment());
  const issuer = chosen(issuers, named)?.issuer ?? (config.issuersFile === undefined ? urlWithoutFile(named) : undefined);
  if (issuer === undefined) {
    const known = issuers.map((each) => `${each.id} (${each.issuer})`).join(', ') || 'none';
    throw new Refusal(`"${printableText(named)}" is not a trusted issuer; ISSUERS_FILE lists ${known}`);
  }
  const { state, changed } = await linkUserIdentity(store, by, user, { issuer, subject });
  const identity = `the subject "${subject}" of ${issuer}`;
  return {
    document: { ...state, changed },
    text: printableText(changed ? `Linked ${identity} to ${user}.` : `${user} was linked to ${identity} already.`),
    ...(config.issuersFile === undefined && { note: 'ISSUERS_FILE is not set here; a service without it takes no tokens' }),
  };
}

async function unlink({ desk, by, config, store }: Admin, user: string, { issuer: named, subject }: Identity): Promise<CommandOutcome> {
  // The URL of an issuer that is no longer trusted is accepted too, so that its links can be removed.
  const issuer =
    chosen(await readIssuers(config.issuersFile, desk.environment()), named)?.issuer ??
    (config.issuersFile === undefined ? urlWithoutFile(named) : named);
  const { endedSessions } = await unlinkUserIdentity(store, by, user, { issuer, subject });
  const text = printableText(`Unlinked the subject "${subject}" of ${issuer} from ${user}; sessions ended: ${endedSessions}.`);
  return { document: { user, issuer, subject, changed: true, endedSessions }, text };
}

async function list({ store: { db } }: Admin, name: string | undefined): Promise<CommandOutcome> {
  const rows = await listIdentities(db, name && (await getNamedRow(db, 'user', name)).name);
  const document = rows.map(({ userName, ...row }) => ({ user: userName, ...row }));
  const cells = rows.map((row) => [row.userName, row.issuer, row.subject, timeText(row.createdAt)]);
  return { document, text: tableText(['USER', 'ISSUER', 'SUBJECT', 'LINKED'], cells, 'There are no links.') };
}

function chosen(issuers: readonly Issuer[], named: string): Issuer | undefined {
  return issuers.find(({ id, issuer }) => id === named || issuer === named);
}

/** Throws {@link Refusal} for a name, which only the file could resolve. */
function urlWithoutFile(text: string): string {
  if (/^https?:\/\/[^\s?#]+$/.test(text)) return text;
  throw new Refusal(`ISSUERS_FILE is not set, so "${printableText(text)}" names no issuer: set it, or give --issuer the issuer's URL`, 2);
}
