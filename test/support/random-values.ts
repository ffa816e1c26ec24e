/** Random values of one field: texts of a format that are the same or nearly so, and schemas that say the format in one of many ways. */
import * as fc from 'fast-check';

type Schema = Record<string, unknown>;

/** A schema of an object with the field `v`, and values that the field may have. */
export interface FieldCase {
  format: string;
  /** The members `properties` and `$defs` of the document. */
  document: { properties: { v: Schema }; $defs: Schema };
  values: readonly (string | number)[];
}

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((each) => each.join(''));
const digits = pick('0', '1', '10', '9', '09', '123456', '999999999');
const fraction = pick('', '.0', '.1', '.10', '.5', '.50', '.123456', '.1234560', '.1234561', '.123456789', '.000001', '.999999999');
const offset = pick('Z', 'z', '+00:00', '-00:00', '+01:00', '-01:00', '+05:45', '+14:00', '-14:00', '+15:59');
const day = pick('2016-12-31', '2017-01-01', '2026-02-28', '2024-02-29', '0001-01-02', '9999-12-30');
const clock = pick('00:00:00', '00:59:59', '01:00:00', '12:30:15', '22:59:60', '23:59:59', '23:59:60');
const int64 = pick('0', '1', '-1', '10', '9', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808');
const decimal = joined(
  pick('', '', '-'),
  pick('0', '1', '10', '9999999999999999999999999999999'),
  pick('', '.0', '.00', '.1', '.10', '.5', '.000000000000000001'),
);
/** One of a few instants, in one of many places. */
const instant = fc
  .tuple(
    pick('2016-12-31T23:59:59Z', '2017-01-01T00:00:00Z', '2024-02-29T12:00:00Z'),
    pick(0, 60, -60, 345, 840, -840),
    pick('T', 't'),
    fraction,
  )
  .map(([time, minutes, between, digitsOfSecond]) => {
    const local = new Date(Date.parse(time) + minutes * 60_000).toISOString().slice(0, 19).replace('T', between);
    const [sign, ahead] = minutes < 0 ? ['-', -minutes] : ['+', minutes];
    const two = (number: number) => String(number).padStart(2, '0');
    return `${local}${digitsOfSecond}${minutes === 0 ? 'Z' : `${sign}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`}`;
  });
const text = fc.oneof(
  pick(
    '',
    ' ',
    'a',
    'A',
    'á',
    'a\u0301',
    'ä',
    'ß',
    'ss',
    'ﬁ',
    'fi',
    'z',
    'Z',
    '\u{1f600}',
    '\uffff',
    '\ue000',
    '100%_',
    '"',
    '\\',
    'a\u200b',
    '\n',
    'a'.repeat(128),
    `${'a'.repeat(128)}b`,
  ),
  fc.string({ unit: pick('a', 'A', 'é', '\u{10000}', '\ufffd', ' '), maxLength: 3 }),
);

/** The values of each format. Some are none, or no value of a rule. */
const formats: Readonly<Record<string, fc.Arbitrary<string | number>>> = {
  text,
  decimal: fc.oneof(decimal, int64, pick('+1', '01', '1e1', '.5')),
  int64: fc.oneof(int64, digits),
  date: fc.oneof(day, pick('2025-02-29', '2026-2-28')),
  time: joined(clock, fraction, offset),
  'date-time': fc.oneof({ weight: 4, arbitrary: instant }, joined(day, pick('T', 't'), clock, fraction, offset)),
  uuid: joined(
    pick('9f1c2a34', '9F1C2A34', 'urn:uuid:9f1c2a34'),
    pick('-58d0-4b6e-9a71-0c5d8e3f2b17', '-58D0-4b6e-9a71-0c5d8e3f2b17', '-0000-0000-0000-000000000000'),
  ),
  email: pick('ada@example.com', 'Ada@example.com', 'ada@EXAMPLE.com', 'ada+b@example.com', '"ada"@example.com', 'ada@[127.0.0.1]'),
  hostname: pick('example.com', 'EXAMPLE.com', 'a-b.example', 'xn--nxasmq6b', 'a', '1.example'),
  ipv4: pick('127.0.0.1', '10.0.0.1', '9.0.0.1', '255.255.255.255', '127.0.0.01'),
  ipv6: pick('::', '::1', '0:0:0:0:0:0:0:1', '2001:db8::7', '2001:DB8::7', '2001:0db8::7', '::ffff:1.2.3.4', '::ffff:102:304'),
  duration: pick('P1D', 'PT24H', 'PT1440M', 'P1Y', 'P12M', 'P1W', 'P7D', 'PT0S', 'P0D', 'PT36H'),
  uri: pick(
    'http://a.example/',
    'http://a.example',
    'HTTP://a.example/',
    'http://A.example/',
    'http://a.example/%7Eb',
    'http://a.example/%7eb',
    'urn:a:b',
  ),
  'uri-reference': pick('a', './a', '#a', '', '//a', '/a/../b'),
  byte: pick('YQ==', 'YR==', '', 'YWI=', 'YWJj', 'ywjj'),
  'iso-time': joined(clock, fraction, pick('', 'Z', '+01:00')),
  'iso-date-time': joined(day, pick('T', ' '), clock, pick('', 'Z', '-01:00')),
  'json-pointer': pick('', '/', '/a', '/a~1b', '/~01', '/A'),
  number: pick(0, -0, 1, 1.5, -2, 1e21, 1e-7, 100, 0.1, 5e-324, Number.MAX_SAFE_INTEGER),
};

/** A value of any format. */
export const formatValues: fc.Arbitrary<string | number> = fc.oneof(...Object.values(formats));

const nothing = { type: 'null' };

/** Ways to say the same of all values but null, with what they need in `$defs`. */
const wraps: readonly ((inner: Schema, name: string) => { v: Schema; $defs?: Schema })[] = [
  (inner) => ({ v: inner }),
  (inner) => ({ v: { anyOf: [inner, nothing] } }),
  (inner) => ({ v: { oneOf: [nothing, inner] } }),
  (inner) => ({ v: { allOf: [inner] } }),
  (inner) => ({ v: { allOf: [{ title: 'a value' }, inner, {}] } }),
  (inner, name) => ({ v: { $ref: `#/$defs/${name}` }, $defs: { [name]: inner } }),
  (inner, name) => ({ v: { $ref: `#/$defs/${name}`, description: 'a value' }, $defs: { [name]: { anyOf: [inner] } } }),
  (inner) => ({
    v: Object.fromEntries<unknown>([['if', { maxLength: 3 }], ...['then', 'else'].map((branch) => [branch, inner] as const)]),
  }),
  (inner) => ({ v: { anyOf: [inner, inner] } }),
  (inner) => ({ v: { anyOf: [{ ...inner, title: 'first' }, { allOf: [inner, { minLength: 1 }] }] } }),
  (inner) => ({ v: 'type' in inner && typeof inner['type'] === 'string' ? { ...inner, nullable: true } : { anyOf: [inner, nothing] } }),
];

const schemaOf = (format: string): Schema =>
  format === 'number' ? { type: 'number' } : { type: 'string', ...(format !== 'text' && { format }) };

/** The formats in which a value has more than one spelling, with their values. */
const severalSpellings = Object.entries(formats).filter(([format]) => format === 'decimal' || format === 'date-time');

/** A field of a random format, with five to twenty values. */
export const fieldCases: fc.Arbitrary<FieldCase> = fc
  .tuple(pick(...Object.entries(formats), ...severalSpellings, ...severalSpellings), fc.array(pick(...wraps), { maxLength: 3 }))
  .chain(([[format, value], chosen]) => {
    let v = schemaOf(format);
    const $defs: Schema = {};
    for (const [index, wrap] of chosen.entries()) {
      const wrapped = wrap(v, `d${index}`);
      v = wrapped.v;
      Object.assign($defs, wrapped.$defs);
    }
    const values = fc.uniqueArray(value, { minLength: 5, maxLength: 20, size: 'max', comparator: 'SameValueZero' });
    return values.map((some) => ({ format, document: { properties: { v }, $defs }, values: some }));
  });
