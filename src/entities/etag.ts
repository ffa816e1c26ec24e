/**
 * Entity tags (RFC 9110 section 8.8.3): of an entity its version, of a list a hash. A proxy that compresses an answer makes its tag weak, or adds the
 * coding to it. Both headers take such a tag for the one that this service has sent (decision 260).
 */
import { createHash } from 'node:crypto';
import type { FieldView } from '../rights/field-view.ts';
import { Problem } from '../problems/errors.ts';
import { expectedFormat } from '../problems/expected.ts';

/** The entity tag of a version or of {@link contentTag}. */
export function etagOf(tag: string): string {
  return `"${tag}"`;
}

/**
 * The tag of an entity with what it refers to: the version and 20 digits of a hash. If-Match takes it and compares the version, because a change
 * concerns the entity alone (decision 140).
 */
export function viewTag(version: string, content: string): string {
  const hash = createHash('sha256').update(content).digest().readBigUInt64BE();
  return version + hash.toString().padStart(20, '0');
}

/** The tag of an entity as the view shows it: the version, and for some of the fields a hash of them too. */
export function entityTag(view: FieldView, { version, fields }: { version: string; fields: string }): string {
  return view.kind === 'whole' ? version : viewTag(version, fields);
}

/** What stands for the content in its entity tag: 22 characters of its hash. */
export function contentTag(content: string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/** The suffixes that proxies write behind a tag: `"1-gzip"` of Apache and Caddy, `"1--gzip"` of Jetty, `"1;br"` of others. The hash of a list may end so too. */
const codingSuffix = /(?:--?|;)(?:gzip|br|zstd|deflate|df)$/;

/** `*`, or the tags of the list without what proxies add to them. Throws 400 when the header is neither. */
function readTags(header: string, parameter: string): '*' | string[] {
  const text = header.trim();
  if (text === '*') return '*';
  const tags: string[] = [];
  // A list may have empty elements (RFC 9110 section 5.6.1.2), but not only these.
  const list = /(?:[ \t]*,)*[ \t]*(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)|[ \t,]+$/y;
  while (list.lastIndex < text.length) {
    const found = list.exec(text);
    if (!found)
      throw new Problem('malformed-request', { faults: [{ parameter, code: 'invalid-value', expected: expectedFormat('entity-tag') }] });
    if (found[1] !== undefined) tags.push(found[1].replace(codingSuffix, ''));
  }
  if (tags.length === 0)
    throw new Problem('malformed-request', { faults: [{ parameter, code: 'invalid-value', expected: expectedFormat('entity-tag') }] });
  return tags;
}

/**
 * The versions that `If-Match` accepts; null for any, when the header is absent or `*`. Tags that are no version of ours match nothing.
 * Throws 400 for a malformed header.
 */
export function acceptedVersions(ifMatch: string | undefined): string[] | null {
  if (ifMatch === undefined) return null;
  const tags = readTags(ifMatch, 'If-Match');
  if (tags === '*') return null;
  return tags.flatMap((tag) => /^([1-9][0-9]{0,17})(?:[0-9]{20})?$/.exec(tag)?.slice(1) ?? []);
}

/** Whether `If-None-Match` has the tag, so that the answer is 304. Throws 400 for a malformed header. */
export function isCurrent(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = readTags(ifNoneMatch, 'If-None-Match');
  return tags === '*' || tags.includes(tag.replace(codingSuffix, ''));
}

/**
 * Whether a request with these headers expects that there is nothing yet: `If-None-Match: *`. Throws 400 for any other value, and if `If-Match` is there
 * too.
 */
export function expectsNothing({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
}: {
  'if-match'?: string;
  'if-none-match'?: string;
}): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifMatch === undefined && ifNoneMatch.trim() === '*') return true;
  const code = ifMatch === undefined ? 'invalid-value' : 'conflicting';
  throw new Problem('malformed-request', { faults: [{ parameter: 'If-None-Match', code }] });
}
