/**
 * Entity tags (RFC 9110 section 8.8.3): of an entity its version, of a list a hash, always strong. If-Match compares strongly, If-None-Match weakly
 * (RFC 9110 section 13.1).
 */
import { createHash } from 'node:crypto';
import { Problem } from '../errors.ts';
import { expectedFormat } from '../http/expected.ts';

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

/** What stands for the content in its entity tag: 22 characters of its hash. */
export function contentTag(content: string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

interface Tag {
  weak: boolean;
  opaque: string;
}

/** `*`, or the tags of the list. Throws 400 when the header is neither. */
function readTags(header: string, parameter: string): '*' | Tag[] {
  const text = header.trim();
  if (text === '*') return '*';
  const tags: Tag[] = [];
  // A list may have empty elements (RFC 9110 section 5.6.1.2), but not only these.
  const list = /(?:[ \t]*,)*[ \t]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)|[ \t,]+$/y;
  while (list.lastIndex < text.length) {
    const found = list.exec(text);
    if (!found)
      throw new Problem('malformed-request', { faults: [{ parameter, code: 'invalid-value', expected: expectedFormat('entity-tag') }] });
    if (found[2] !== undefined) tags.push({ weak: found[1] !== undefined, opaque: found[2] });
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
  return tags.flatMap(({ weak, opaque }) => (weak ? [] : (/^([1-9][0-9]{0,17})(?:[0-9]{20})?$/.exec(opaque)?.slice(1) ?? [])));
}

/** Whether `If-None-Match` has the tag, so that the answer is 304. Throws 400 for a malformed header. */
export function isCurrent(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = readTags(ifNoneMatch, 'If-None-Match');
  return tags === '*' || tags.some(({ opaque }) => opaque === tag);
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
