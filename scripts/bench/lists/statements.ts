/** The SQL of a list, as the service sends it: this process makes the same list once and records its statements. */
import { AttributeRegistry } from '../../../src/accounts/attribute-registry.ts';
import type { CompiledQuery } from 'kysely';
import type { Principal } from '../../../src/rights/principal.ts';
import type { Store } from '../../../src/database/port.ts';
import type { Reads } from '../../../src/database/standby/readers.ts';
import { ServiceSecrets } from '../../../src/database/service-secrets.ts';
import { Cursors } from '../../../src/entities/querying/cursors.ts';
import { readIncludes } from '../../../src/entities/querying/include.ts';
import { readListQuery } from '../../../src/entities/querying/list-request.ts';
import { listEntities } from '../../../src/entities/querying/list.ts';
import { scopeFor } from '../../../src/entities/querying/scope.ts';
import { TypeRegistry } from '../../../src/entity-types/registry.ts';
import { authorize } from '../../../src/rights/permit.ts';
import type { ListScenario } from './scenarios.ts';

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

/** A user with the right to read everything. */
const reader: Principal = {
  user: { id: '1', name: 'bench-0', displayName: 'bench-0', attributes: {} },
  profile: undefined,
  claims: {},
  timeZone: null,
  locale: 'en',
  method: 'api-key',
  credential: 'key:bench',
  issuer: null,
  authenticatedAt: new Date(),
  session: undefined,
  grants: new Map([['*', new Map([['read', ['any']]])]]),
  scopes: null,
};

/** The statements of the list, with their values. Throws what the service answers if it refuses the list. */
export async function statementsOf(store: Store, { entity, query }: ListScenario): Promise<Statement[]> {
  const statements: Statement[] = [];
  const recorded = <R>(statement: CompiledQuery<R>): CompiledQuery<R> => {
    statements.push({ sql: statement.sql, parameters: statement.parameters });
    return statement;
  };
  const recording: Reads = {
    read: (statement, values) => store.read(statement, values),
    run: (statement, values) => store.run(statement, values),
    query: (statement) => store.query(recorded(statement)),
    queryRepeated: (statement) => store.queryRepeated(recorded(statement)),
    readOnly: (limitMs, work) => store.readOnly(limitMs, (run) => work((statement) => run(recorded(statement)))),
    position: async () => undefined,
  };
  const types = new TypeRegistry(store.db, { entityTypes: 'open' });
  const type = await types.find(entity);
  const includes = await readIncludes(types, reader, { name: entity, type }, query['include']?.split(',') ?? []);
  const request = await readListQuery(
    query,
    includes,
    scopeFor({ types, attributes: new AttributeRegistry(store.db, new Map()) }, reader, { name: entity, type }),
  );
  await listEntities(recording, new Cursors(new ServiceSecrets(store.db)), authorize(reader, entity, 'read'), request, type?.companion);
  return statements;
}
