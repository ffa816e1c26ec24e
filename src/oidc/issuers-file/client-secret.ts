/** Reads the secret of this service as a client of an issuer, from the place that the issuer's entry in ISSUERS_FILE names. */
import { SecretFile, type Current, type ParseSecrets } from '../../config/secret-file.ts';
import { Secret } from '../../config/secrets.ts';
import { ConfigError } from '../../config/settings.ts';
import type { Environment } from '../../config/reader.ts';
import type { SchemaReader } from './schema-reader.ts';

export interface ClientSecret {
  /** Undefined: none. That of a file is a {@link SecretFile}. */
  clientSecret: Current<Secret> | undefined;
  clientSecretFile: string | undefined;
}

/** The minimum length of a secret (rule 86). Auth0, Entra ID, Google and Keycloak generate secrets of 32 bytes or more. */
const minimumSecretBytes = 32;

/** Reads the secret from the environment or the file that the members name, and reports a missing or short one. */
export async function readClientSecret(members: SchemaReader, id: string | undefined, environment: Environment): Promise<ClientSecret> {
  const variable = members.text('clientSecretEnv');
  const file = members.text('clientSecretFile');
  if (variable !== undefined && file !== undefined) {
    members.report('clientSecretEnv and clientSecretFile are both given; keep one', 'clientSecretFile');
  } else if (variable !== undefined) {
    const secret = environment[variable];
    if (!secret) members.report(`clientSecretEnv names ${variable}, which is not set in the environment`, 'clientSecretEnv');
    else
      for (const problem of lengthProblems(secret))
        members.report(`${variable}, which clientSecretEnv names,${problem}`, 'clientSecretEnv');
    return { clientSecret: secret === undefined ? undefined : { current: new Secret(secret) }, clientSecretFile: undefined };
  } else if (file !== undefined) {
    try {
      return { clientSecret: await SecretFile.open(`clientSecretFile of ${id}`, file, parseClientSecret), clientSecretFile: file };
    } catch (error) {
      members.report(error instanceof ConfigError ? error.message : String(error), 'clientSecretFile');
    }
  }
  return { clientSecret: undefined, clientSecretFile: file };
}

const parseClientSecret: ParseSecrets<Secret> = (text, problems) => {
  const secret = text.trim();
  problems.push(...(secret === '' ? [' is empty'] : lengthProblems(secret)));
  return new Secret(secret);
};

function lengthProblems(secret: string): string[] {
  const bytes = Buffer.byteLength(secret);
  return bytes < minimumSecretBytes ? [` has ${bytes} bytes: let the provider make a secret of ${minimumSecretBytes} or more`] : [];
}
