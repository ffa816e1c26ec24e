/**
 * The settings of a session on which the code relies, whatever the defaults of the server, the database and the role are (decision 235). The first statement
 * of each connection sets them, because poolers refuse most of them in the startup message.
 */

/** The name and the value of each. */
export const sessionSettings: readonly (readonly [name: string, value: string])[] = [
  // Guarded statements rely on READ COMMITTED (rule 89).
  ['default_transaction_isolation', 'read committed'],
  // node-postgres parses texts of these forms only.
  ['datestyle', 'ISO, MDY'],
  ['intervalstyle', 'postgres'],
  ['bytea_output', 'hex'],
  // Casts between a text, a date and an instant use it.
  ['timezone', 'UTC'],
  // Less would round numbers.
  ['extra_float_digits', '1'],
  // These change what literals, comparisons and lists mean.
  ['standard_conforming_strings', 'on'],
  ['transform_null_equals', 'off'],
  ['array_nulls', 'on'],
  // Index searches would leave out rows.
  ['gin_fuzzy_search_limit', '0'],
  // Definitions in the catalogue are compared with those that the service writes.
  ['quote_all_identifiers', 'off'],
];

/**
 * The first statement of each connection. A server that accepts connections and closes them fails here, where no write can be in doubt.
 */
export const firstStatement = `select ${sessionSettings.map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')}`;
