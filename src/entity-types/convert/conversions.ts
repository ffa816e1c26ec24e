/** The conversions of keywords of older drafts, of OpenAPI and of other tools. */
import { ruleKeywords } from '../../entities/companion/rule-layout.ts';
import { nearName } from '../../config/near-name.ts';
import { formatNames } from '../../contract/formats.ts';
import { serviceKeywords } from '../document.ts';
import { faultsOfName, repeatedKeywords } from '../keywords.ts';
import { isSchemaObject, schemaKeywords, subschemasOf, type Schema } from '../subschemas.ts';
import { annotationOf, copyKeyword, dropKeyword, noMembers, type KeywordContext, type KeywordConversion } from './keyword-conversion.ts';
import type { Dialect } from './dialect.ts';
import { unicodePatternOf } from './pattern.ts';

const pointersInstead = dropKeyword('references are pointers now');
const noEffect = dropKeyword('it has no effect here');

const address: KeywordConversion = (value, context) => {
  if (!context.isRoot || typeof value !== 'string' || value.startsWith('#')) return pointersInstead(value, context);
  return { $id: value.replace(/#.*$/s, '') };
};

const dependencies: KeywordConversion = (value, { note, inner }) => {
  const members = Object.entries(isSchemaObject(value) ? value : {});
  const required = members
    .filter(([, names]) => Array.isArray(names) || typeof names === 'string')
    .map(([name, names]) => [name, [names].flat()]);
  const schemas = members
    .filter(([name]) => required.every(([other]) => other !== name))
    .map(([name, schema]) => [name, inner(schema, name)]);
  const found = { ...(required.length > 0 && { dependentRequired: Object.fromEntries(required) as Schema }) };
  note(
    `became ${[required.length > 0 && 'dependentRequired', schemas.length > 0 && 'dependentSchemas'].filter(Boolean).join(' and ') || 'nothing'}`,
  );
  return { ...found, ...(schemas.length > 0 && { dependentSchemas: Object.fromEntries(schemas) as Schema }) };
};

const items: KeywordConversion = (value, { schema, note, refuse, inner }) => {
  if (!Array.isArray(value)) return { items: inner(value) };
  if ('prefixItems' in schema) {
    refuse('is a list beside prefixItems, which means the same. Leave one of them');
    return {};
  }
  note('became prefixItems');
  return value.length === 0 ? {} : { prefixItems: value.map((each: unknown, index) => inner(each, String(index))) };
};

const additionalItems: KeywordConversion = (value, context) => {
  if (!Array.isArray(context.schema['items'])) return noEffect(value, context);
  context.note('became items');
  return { items: context.inner(value) };
};

/** `exclusiveMinimum` and `exclusiveMaximum`, which draft 4 has as a boolean beside the limit. */
const exclusiveLimit =
  (limit: 'minimum' | 'maximum'): KeywordConversion =>
  (value, context) => {
    if (typeof value !== 'boolean') return copyKeyword(value, context);
    const bound = context.schema[limit];
    if (!value || bound === undefined) return noEffect(value, context);
    context.note(`became the number of ${limit}`);
    return { [context.keyword]: bound };
  };
const inclusiveLimit =
  (exclusive: 'exclusiveMinimum' | 'exclusiveMaximum'): KeywordConversion =>
  (value, context) =>
    context.schema[exclusive] === true ? {} : copyKeyword(value, context);

const nullable: KeywordConversion = (value, context) => {
  const { schema, note } = context;
  if (value !== true) return noEffect(value, context);
  if (schema['type'] === undefined) {
    note('dropped: it has no effect without type. If null is meant, write {"anyOf": [{…}, {"type": "null"}]}');
    return {};
  }
  const { const: only, enum: values } = schema;
  const refusing = [
    ...(Array.isArray(values) && !values.includes(null) ? ['enum'] : []),
    ...(only !== undefined && only !== null ? ['const'] : []),
  ];
  const others = ['allOf', 'anyOf', 'oneOf', 'not', 'if'].filter((name) => name in schema);
  if (refusing.length > 0) note(`became the type null, but ${refusing.join(' and ')} still refuses null`);
  else note(others.length > 0 ? `became the type null. Null must fit ${others.join(' and ')} too` : 'became the type null');
  return {};
};

const type: KeywordConversion = (value, { schema: { nullable } }) => {
  const types: unknown[] = [value].flat();
  return { type: nullable === true && !types.includes('null') ? [...types, 'null'] : value };
};

/** Formats of OpenAPI for numbers, which the service has for texts. */
const textFormats: readonly unknown[] = ['int64', 'decimal'];

const format: KeywordConversion = (value, context) => {
  if (typeof value !== 'string' || !formatNames.includes(value))
    return dropKeyword(`the service has no format ${JSON.stringify(value)}`)(value, context);
  const types = [context.schema['type']].flat();
  const isOfNumber = textFormats.includes(value) && types.length > 0 && !types.includes('string') && types[0] !== undefined;
  return isOfNumber
    ? dropKeyword(`${value} is a format of texts. Numbers have all their digits anyway`)(value, context)
    : copyKeyword(value, context);
};

const unreadablePattern = 'is no regular expression with the flag u. Rewrite it, for example without needless escapes';

const pattern: KeywordConversion = (value, context) => {
  const found = typeof value === 'string' ? unicodePatternOf(value) : undefined;
  if (found === undefined) context.refuse(unreadablePattern);
  else if (found !== value) context.note(`became ${found}`);
  return { pattern: found ?? value };
};

const patternProperties: KeywordConversion = (value, { keyword, inner, note, refuse }) => {
  const members = Object.entries(isSchemaObject(value) ? value : {}).map(([name, schema]): [string, unknown] => {
    const found = unicodePatternOf(name);
    if (found === undefined) refuse(`${name} ${unreadablePattern}`);
    else if (found !== name) note(`${name} became ${found}`);
    return [found ?? name, inner(schema, name)];
  });
  // Two patterns may become the same.
  const byName = Map.groupBy(members, ([name]) => name);
  return {
    [keyword]: Object.fromEntries(
      [...byName].map(([name, same]) => [name, same.length === 1 ? same[0]?.[1] : { allOf: same.map(([, schema]) => schema) }]),
    ),
  };
};

const containedLimits = ['minContains', 'maxContains'];
const isMovedContains = ({ schema, dialect }: KeywordContext) =>
  dialect.leavesContained && 'contains' in schema && 'unevaluatedItems' in schema;

const contains: KeywordConversion = (value, context) => {
  const { schema, note, inner } = context;
  if (!isMovedContains(context)) return { contains: inner(value) };
  note('moved into {"not": {"not": …}}, since 2019-09 leaves contained items unevaluated');
  const limits = Object.fromEntries(containedLimits.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])));
  return { allOf: [{ not: { not: { contains: inner(value), ...limits } } }] };
};
const containedLimit: KeywordConversion = (value, context) => (isMovedContains(context) ? {} : copyKeyword(value, context));

const required: KeywordConversion = (value, context) => {
  if (typeof value === 'boolean')
    context.refuse('is a boolean, as in draft 3. Write the name of the property into the list `required` of the object around it');
  return copyKeyword(value, context);
};

/** `typeof` and `instanceof` of ajv-keywords. Schemas of configurations in JavaScript name with them what no JSON value is. */
const ofProgram =
  (isOfJson: (value: unknown) => boolean): KeywordConversion =>
  (value, context) => {
    if ([value].flat().some(isOfJson))
      return dropKeyword('JSON Schema has no such keyword. Write type instead, if nothing else says it')(value, context);
    context.note('became {"not": {}}: no JSON value is one');
    return { not: {} };
  };

const conversions: ReadonlyMap<string, KeywordConversion> = new Map<string, KeywordConversion>([
  ['$schema', noMembers],
  ['$id', address],
  ['$anchor', pointersInstead],
  ['$dynamicAnchor', pointersInstead],
  ['$recursiveAnchor', pointersInstead],
  // They stand where the references lead.
  ['definitions', noMembers],
  ['$defs', noMembers],
  ['dependencies', dependencies],
  ['items', items],
  ['additionalItems', additionalItems],
  ['exclusiveMinimum', exclusiveLimit('minimum')],
  ['exclusiveMaximum', exclusiveLimit('maximum')],
  ['minimum', inclusiveLimit('exclusiveMinimum')],
  ['maximum', inclusiveLimit('exclusiveMaximum')],
  ['nullable', nullable],
  ['type', type],
  ['format', format],
  ['pattern', pattern],
  ['patternProperties', patternProperties],
  ['contains', contains],
  ['minContains', containedLimit],
  ['maxContains', containedLimit],
  ['typeof', ofProgram((value) => value !== 'function' && value !== 'symbol' && value !== 'undefined')],
  ['instanceof', ofProgram((value) => ['Object', 'Array', 'String', 'Number', 'Boolean'].includes(String(value)))],
  ['contentSchema', (value, { inner }) => ({ contentSchema: inner(value) })],
  ['required', required],
  ['title', annotationOf('string')],
  ['description', annotationOf('string')],
  ['$comment', annotationOf('string')],
  ['deprecated', annotationOf('boolean')],
  ['readOnly', annotationOf('boolean')],
  ['examples', (value, context) => (Array.isArray(value) ? copyKeyword : dropKeyword('it is no list'))(value, context)],
  ['discriminator', dropKeyword('it names schemas of the OpenAPI document')],
  ['default', dropKeyword('the service fills in no values. The client sends them')],
  ['writeOnly', dropKeyword('the service hides no fields. The rights of roles do not name fields either')],
]);

const copiedKeywords: readonly string[] = [...ruleKeywords, ...serviceKeywords];

/** The conversion of a keyword. */
export function conversionOf(keyword: string, dialect: Dialect): KeywordConversion {
  const own = conversions.get(keyword);
  if (own) return own;
  if (keyword === 'id' && dialect.hasPlainId) return address;
  if (copiedKeywords.includes(keyword)) return copyKeyword;
  if (schemaKeywords.has(keyword)) return convertSchemasIn;
  const [fault] = faultsOfName(keyword, '');
  if (!fault) return copyKeyword;
  const instead = fault.code === 'unknown' ? fault.values?.instead : undefined;
  if (instead !== undefined && keyword !== 'id') return refused(instead);
  const meant = nearName(keyword, [...repeatedKeywords]);
  return dropKeyword(`JSON Schema has no such keyword${meant === undefined ? '' : `. If ${meant} is meant, correct it`}`);
}

const refused =
  (instead: string): KeywordConversion =>
  (value, context) => {
    context.refuse(`is no keyword of 2020-12. Write ${instead} instead`);
    return copyKeyword(value, context);
  };

/** A keyword that has one schema, a list of them, or an object of them. Any other value stays, so that the document's own check refuses it. */
const convertSchemasIn: KeywordConversion = (value, { keyword, inner }) => {
  const found = subschemasOf({ [keyword]: value });
  const schemas = found.map(({ schema, path: [, ...steps] }) => inner(schema, ...steps));
  if (found[0]?.path.length === 1) return { [keyword]: schemas[0] };
  if (Array.isArray(value)) return { [keyword]: schemas };
  if (!isSchemaObject(value)) return { [keyword]: value };
  return { [keyword]: Object.fromEntries(Object.keys(value).map((name, index) => [name, schemas[index]])) };
};
