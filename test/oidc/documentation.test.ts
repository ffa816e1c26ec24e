/** docs/issuers.md agrees with the code. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readIssuers } from '../../src/oidc/issuers-file/read.ts';
import { refusalReasons } from '../../src/oidc/tokens/token-errors.ts';
import { writeIssuersText } from '../support/issuer.ts';

const text = await readFile(new URL('../../docs/issuers.md', import.meta.url), 'utf8');

/** The names in the first column of the table under this heading. */
function firstColumn(heading: string): string[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `));
  const end = lines.indexOf('', start);
  return lines.slice(start, end).flatMap((line) => /^\| `([\w-]+)`/.exec(line)?.[1] ?? []);
}

test('the table has all reasons for refusing a token, and no others', () => {
  expect(firstColumn('reason')).toEqual([...refusalReasons]);
});

test('the service accepts the file of the example', async () => {
  const [, example = ''] = /```yaml\n([^`]+)```/.exec(text) ?? [];
  const [issuer] = await readIssuers(await writeIssuersText(example), {});
  expect(issuer).toMatchObject({ id: 'corp', audience: 'entity-service', scopes: { read: 'entities:read', write: 'entities:write' } });
});

test('the service accepts the examples of all providers, and the page lists them', async () => {
  const folder = fileURLToPath(new URL('../../docs/issuers/', import.meta.url));
  const files = (await readdir(folder)).toSorted();
  expect([...text.matchAll(/\(issuers\/([\w.-]+)\)/g)].map(([, file = '']) => file).toSorted()).toEqual(files);
  // The file of Apple names a file of its own for the secret, which the test of the providers makes.
  const readable = files.filter((file) => file !== 'apple.yaml');
  const secrets = Object.fromEntries(
    ['KEYCLOAK', 'AUTH0', 'ENTRA', 'GOOGLE', 'CORP', 'PARTNER', 'OKTA', 'DUENDE', 'DEX', 'AUTHELIA', 'KANIDM', 'COGNITO', 'HYDRA'].map(
      (name) => [`${name}_SECRET`, `secret-of-32-bytes-from-${name}`.padEnd(32, '-')],
    ),
  );
  const read = await Promise.all(readable.map((file) => readIssuers(folder + file, secrets)));
  expect(read.flat().map(({ id, tokenType, claimNames }) => [id, tokenType, Object.values(claimNames).join(' ')])).toEqual([
    ['auth0', 'at+jwt', 'client_id jti scope sub'],
    ['authelia', 'opaque', 'client_id jti scope sub'],
    ['cognito', 'jwt', 'client_id jti scope sub'],
    ['dex', 'at+jwt', 'client_id jti scope sub'],
    ['duende', 'at+jwt', 'client_id jti scope sub'],
    ['entra', 'jwt', 'azp uti scp oid'],
    ['corp', 'at+jwt', 'client_id jti scope sub'],
    ['partner', 'opaque', 'client_id jti scope sub'],
    ['google', 'at+jwt', 'client_id jti scope sub'],
    ['hydra', 'jwt', 'client_id jti scp sub'],
    ['kanidm', 'at+jwt', 'client_id jti scope sub'],
    ['keycloak', 'at+jwt', 'azp jti scope sub'],
    ['okta', 'jwt', 'cid jti scp sub'],
  ]);
});

test('the table has all members of an issuer, and no others', async () => {
  const file = await writeIssuersText('issuers: [{ id: corp, other: 1 }]');
  const failure = await readIssuers(file, {}).then(() => '', String);
  const [, known = ''] = /other is not known here; known are (.+)/.exec(failure) ?? [];
  expect(firstColumn('member').toSorted()).toEqual(known.split(', '));
});
