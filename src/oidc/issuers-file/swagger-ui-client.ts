/** What an issuer's entry in ISSUERS_FILE says about Swagger UI, the page at /docs. */
import type { SchemaReader } from './schema-reader.ts';

/** Swagger UI as a client of the issuer: a public one, since it runs in a browser. */
export interface SwaggerUiClient {
  clientId: string;
  scopes: readonly string[] | undefined;
  /** What the issuer wants to be told besides, such as `resource` or `audience`. */
  parameters: Readonly<Record<string, string>>;
}

/** What Swagger UI says by itself. */
const reserved = ['response_type', 'client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'code_challenge_method'];

/** Undefined when the issuer knows no such client. */
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
