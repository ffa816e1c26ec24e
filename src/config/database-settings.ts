/** The settings that name the database. */
import { databaseName, isLocal, readDatabaseAddress, type Address } from './database-address.ts';
import type { Reader } from './environment.ts';
import { Secret } from './secrets.ts';

export function readDatabaseUrl(read: Reader, name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL', production: boolean): Secret | undefined {
  const text = read.text(name);
  if (!text) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text) || !isDecodable(text)) {
    read.problems.push(`${name} must look like postgres://user:password@host:5432/database, with %-escapes for special characters`);
    return undefined;
  }
  const problem = addressProblem(text, production);
  if (problem === undefined) return new Secret(text, databaseName(text));
  read.problems.push(`${name} ${problem}`);
  return new Secret(text);
}

/** Rule 88: what node-postgres does with the address is judged, not what the address looks like. */
function addressProblem(url: string, production: boolean): string | undefined {
  const { searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) return `must have the parameter ${repeated} once, of which only the last one would count`;
  let address: Address;
  try {
    address = readDatabaseAddress(url);
  } catch (error) {
    return `cannot be used: ${(error as Error).message}`;
  }
  const isOpenOnPurpose = address.encryption === 'none' && searchParams.get('sslmode') === 'disable';
  if (!production || isLocal(address) || address.encryption === 'verified' || isOpenOnPurpose) return undefined;
  const way =
    'must end with ?sslmode=verify-full in production (NODE_ENV=production), or with ?sslmode=disable where no other party can listen on the network';
  return process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? `${way}; unset NODE_TLS_REJECT_UNAUTHORIZED` : way;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}
