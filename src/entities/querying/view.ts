/** One entity as the caller wants to see it: some of its fields, and the entities that it refers to (decisions 139 and 140). */
import type { components, operations } from '../../../generated/api.ts';
import { JsonText } from '../../contract/operation.ts';
import type { Store } from '../../database/port.ts';
import { withoutTransaction } from '../../database/read-transaction.ts';
import { Problem } from '../../problems/errors.ts';
import { maximumFaults } from '../../problems/faults.ts';
import type { FieldTypes } from '../../filter/fields.ts';
import type { Permit } from '../../rights/permit.ts';
import { entityTag, viewTag } from '../etag.ts';
import type { Include, ReadIncludes } from './include.ts';
import { viewQuery } from './include-statements.ts';
import { readIncluded } from './included.ts';
import { projectedKeys, readLabels, withLabel, type WantedLabels } from './labels.ts';
import { placeFaults, urlCarrier } from './list-request.ts';
import { readProjection, type Projection } from './projection.ts';
import { representEntity } from '../represent.ts';

interface ViewRequest {
  /** The fields to send; undefined for all. */
  projection: Projection | undefined;
  includes: readonly Include[];
  /** The names to send; undefined for none. */
  labels?: WantedLabels | undefined;
}

/** The parameters of `getEntity` in the URL. */
export type EntityQuery = Partial<NonNullable<operations['getEntity']['parameters']['query']>>;

/** Reads the parameters of a URL. Throws 422 with the place of each fault. */
export function readViewQuery({ fields }: EntityQuery, includes: ReadIncludes, types: FieldTypes): ViewRequest {
  const projection = fields === undefined ? undefined : readProjection(fields.split(','), types);
  if (!('faults' in includes) && !(projection && 'faults' in projection))
    return { projection: projection?.projection, includes: includes.includes };
  const faults = [...placeFaults(projection, 'fields', urlCarrier), ...placeFaults(includes, 'include', urlCarrier)];
  throw new Problem('validation-failed', { faults: faults.slice(0, maximumFaults) });
}

/** The entity, and what its entity tag says about it; undefined when there is none that the permit covers. */
export async function findView(
  store: Store,
  permit: Permit<'read'>,
  key: string,
  request: ViewRequest,
): Promise<{ body: JsonText<components['schemas']['EntityView']>; tag: string } | undefined> {
  const run = withoutTransaction(store);
  const { projection, includes, labels } = request;
  const [row] = await run(viewQuery(permit, key, projection, [...includes, ...(labels?.references ?? [])]), 'by-index');
  if (!row) return undefined;
  const { text } = representEntity(row);
  if (includes.length === 0 && !labels) return { body: new JsonText(text), tag: entityTag(permit.view, row) };
  // One entity is never cut.
  const included = includes.length === 0 ? undefined : await readIncluded(run, [{ text, references: row.references }], request, 0);
  const item = labels && { key, references: projectedKeys(labels, projection, row.references.slice(includes.length)) };
  const found = item && (await readLabels(run, [item], labels));
  const members = [included?.members, found?.member].flatMap((member) => (member === undefined ? [] : `,${member}`));
  const body = `${withLabel(text, found?.of(key)).slice(0, -1)}${members.join('')}}`;
  return { body: new JsonText(body), tag: viewTag(row.version, body) };
}
