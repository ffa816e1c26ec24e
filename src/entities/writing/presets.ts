/** The values that grants give the members that a new entity lacks. */
import type { Permit } from '../../rights/permit.ts';
import type { SentFields } from './natural-keys.ts';

/** The fields of a new entity with the values that the grants of the caller set for the members that it lacks. */
export function withPresets({ change }: Permit<'create'>, sent: SentFields): SentFields {
  const fields = sent.fields as Record<string, unknown>;
  const presets = [...(change?.presets() ?? [])].filter(([name]) => !Object.hasOwn(fields, name));
  if (presets.length === 0) return sent;
  const members = presets.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const text = `${sent.text.trimEnd().slice(0, -1)}${Object.keys(fields).length === 0 ? '' : ','}${members.join(',')}}`;
  return { fields: { ...fields, ...Object.fromEntries(presets) }, text };
}
