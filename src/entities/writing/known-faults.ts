/** The faults of a type, without what tells a caller of fields that no grant shows or lets be written. */
import type { EntityType } from '../../entity-types/types.ts';
import { isSchemaObject } from '../../entity-types/subschemas.ts';
import { expectedOneOf } from '../../problems/expected.ts';
import type { Fault } from '../../problems/faults.ts';
import { pathOf } from '../../problems/pointer.ts';
import { otherFields } from '../../rights/field-set.ts';

/** The knowledge of a caller. */
export interface KnownMembers {
  /** Whether the caller has sent the member of this entity, or may see it. */
  isPlace: (member: string) => boolean;
  /** Whether a grant shows the member in some entity, or lets it be written. */
  isName: (member: string) => boolean;
}

/**
 * The faults at places that the caller knows; the others are at the entity as a whole. A fault of the entity as a whole says nothing of what is expected if the
 * type has fields that the caller does not know, since that may be their names, values or number. Nor does one of the name of a member, but for names that
 * the caller knows.
 */
export function knownFaults(faults: readonly Fault[], { document }: EntityType, { isPlace, isName }: KnownMembers): Fault[] {
  const declared = isSchemaObject(document['properties']) ? Object.keys(document['properties']) : [];
  const isHiding = !isName(otherFields) || !declared.every(isName);
  const namesCount = JSON.stringify(document).includes('"propertyNames":');
  const known = faults.map((fault): Fault => {
    if (fault.pointer === undefined) return fault;
    const [member, ...below] = pathOf(fault.pointer);
    if (member !== undefined && !isPlace(member)) return { pointer: '', code: fault.code };
    if (!isHiding || below.length > 0) return fault;
    if (fault.code === 'unknown')
      return { ...placeOf(fault), code: 'unknown', ...(fault.expected && expectedOneOf(declared.filter(isName))) };
    return member === undefined || namesCount ? { ...placeOf(fault), code: fault.code } : fault;
  });
  return [...new Map(known.map((fault) => [JSON.stringify(fault), fault])).values()];
}

const placeOf = ({ pointer, position }: Fault) => ({
  ...(pointer !== undefined && { pointer }),
  ...(position !== undefined && { position }),
});
