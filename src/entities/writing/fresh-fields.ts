/** What merging fields creates where there is no entity yet. */
import { memberTexts } from '../../json/json-parts.ts';
import { parseJson } from '../../json/parse-json.ts';

/** Fields of an entity: as parsed, and as JSON text of an object that `json/json.ts` has accepted. */
interface Fields {
  fields: unknown;
  text: string;
}

/**
 * The fields as a merge into an empty object leaves them: without the members that are null, at any depth outside of arrays (RFC 7396 section 2). The same
 * merge again then changes nothing. The digits of numbers stay.
 */
export function freshFields({ fields, text }: Fields): Fields {
  if (!text.includes('null')) return { fields, text };
  const merged = withoutNulls(text.trim());
  return { fields: parseJson(merged), text: merged };
}

function withoutNulls(text: string): string {
  if (!text.startsWith('{') || !text.includes('null')) return text;
  const members = [...memberTexts(text)].filter(([, value]) => value !== 'null');
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${withoutNulls(value)}`).join(',')}}`;
}
