/** Reads the settings of Swagger UI, the page at /docs, in an issuer's entry in ISSUERS_FILE. */
import type { SchemaReader } from './schema-reader.ts';

/** Swagger UI as a client of the issuer: a public client, because it runs in a browser. */
export interface SwaggerUiClient {
  clientId: string;
  scopes: readonly string[] | undefined;
  /** Additional parameters that the issuer requires, such as `resource` or `audience`. */
  parameters: Readonly<Record<string, string>>;
}

/** Parameters that Swagger UI sends itself. */
const reserved = ['response_type', 'client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'code_challenge_method'];

/** Undefined if Swagger UI is no client of the issuer. */
export function readSwaggerUi(members: SchemaReader): SwaggerUiClient | undefined {
  const mapping = members.mapping('swaggerUi');
  if (!mapping) return undefined;
  const clientId = mapping.text('clientId', {
    required: true,
    pattern: /^[\x20-\x7e]{1,256}$/,
    must: 'be 1 to 256 printable ASCII characters',
  });
  const scopes = mapping.texts('scopes', { minimum: 1 });
  const wanted = mapping.mapping('parameters');
  const parameters: Record<string, string> = {};
  for (const name of wanted?.names() ?? []) {
    const value = wanted?.text(name);
    if (reserved.includes(name)) wanted?.report(`${name} is what Swagger UI says by itself: remove it`, name);
    else if (value !== undefined) parameters[name] = value;
  }
  mapping.finish();
  return clientId === undefined ? undefined : { clientId, scopes, parameters };
}
