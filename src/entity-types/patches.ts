/**
 * Patches that need no look at the entity. The schema has to test each member of the fields by itself, and the patch has to give scalars
 * and lists. Then an entity that fits the type still fits after the merge if the members of the patch fit.
 */
import { subschemasOf, isSchemaObject, type Schema } from './subschemas.ts';

/** The keywords that say something of single members, or nothing, of the object that has them. */
const memberKeywords = new Set(
  `properties patternProperties additionalProperties propertyNames required type $defs definitions
  $schema $comment title description examples example deprecated readOnly`.split(/\s+/),
);

/** Whether each entity that fits the type still fits after the merge patch, a JSON object. False if that depends on the entity. */
export type AcceptsPatch = (patch: Schema) => boolean;

/** `compile` makes the validator of a schema, when the first patch needs it. `schema` is that of the fields, without service keywords. */
export function acceptsPatchOf(schema: Schema, compile: (schema: Schema) => (value: unknown) => boolean): AcceptsPatch {
  if (!testsMembersAlone(schema)) return () => false;
  const { required, ...ofMembers } = schema;
  const requiredNames = new Set(required as string[] | undefined);
  let fits: ReturnType<typeof compile> | undefined;
  return (patch) => {
    const members = Object.entries(patch);
    if (members.some(([, value]) => isSchemaObject(value))) return false;
    const [removed, given] = [members.filter(([, value]) => value === null), members.filter(([, value]) => value !== null)];
    if (removed.some(([name]) => requiredNames.has(name))) return false;
    return (fits ??= compile(ofMembers))(Object.fromEntries(given));
  };
}

/** A schema that refers to the whole schema does not: the copy without `required` would accept too much inside. */
function testsMembersAlone(schema: Schema): boolean {
  return Object.keys(schema).every((keyword) => memberKeywords.has(keyword)) && !refersToWhole(schema);
}

function refersToWhole(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  const { $ref, $dynamicRef } = schema;
  const isWhole = $dynamicRef !== undefined || (typeof $ref === 'string' && !$ref.startsWith('#/'));
  return isWhole || subschemasOf(schema).some((inner) => refersToWhole(inner.schema));
}
