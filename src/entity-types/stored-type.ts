/** Types of stored documents, which this version may be unable to check fields against (rule 151). */
import type { Companion } from '../entities/companion/layout.ts';
import { maximumFaults } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import { InvalidSchema } from '../json-schema/validator.ts';
import { compileType, typeWithoutWrites } from './compile.ts';
import type { DocumentChecks } from './proof.ts';
import type { TypeSource } from './store.ts';
import { readableDocument, unreadablePlaces } from './stored-document.ts';
import type { Schema } from './subschemas.ts';
import type { EntityType } from './types.ts';

/**
 * Why fields cannot be checked against a stored document, with the pointers of what is in the way; none if it is the document as a whole.
 */
export interface StoredTypeFault {
  code: 'type-too-costly' | 'type-not-supported';
  pointers: readonly string[];
}

/** A revision as the database has it. */
export interface StoredRevision {
  revision: string;
  document: Schema;
  source: TypeSource;
  companion: Companion | null;
}

/** The type of a stored document, with its fault if fields cannot be checked against it: then nothing can be written. Throws 503 `busy`. */
export async function compileStored(
  stored: StoredRevision,
  checks: DocumentChecks,
): Promise<{ type: EntityType; fault: StoredTypeFault | undefined }> {
  const { revision, document, companion } = stored;
  const compiled = await compileOrFault(stored, checks);
  return 'type' in compiled
    ? { type: compiled.type, fault: undefined }
    : { type: typeWithoutWrites(revision, readableDocument(document), compiled.fault.code, companion), fault: compiled.fault };
}

/** The fault of a stored document; undefined if fields can be checked against it. Throws 503 `busy`. */
export async function faultOfStored(document: Schema, source: TypeSource, checks: DocumentChecks): Promise<StoredTypeFault | undefined> {
  const compiled = await compileOrFault({ revision: '0', document, source, companion: null }, checks);
  return 'fault' in compiled ? compiled.fault : undefined;
}

async function compileOrFault(stored: StoredRevision, checks: DocumentChecks): Promise<{ type: EntityType } | { fault: StoredTypeFault }> {
  const { revision, document, source, companion } = stored;
  if (source === 'api' && !(await checks.isCheapDocument(document))) return { fault: { code: 'type-too-costly', pointers: [] } };
  try {
    const places = unreadablePlaces(document);
    return places.length > 0 ? unsupported(places) : { type: compileType(revision, document, source, companion) };
  } catch (error) {
    // Nothing is sure of a document that this version would refuse. The log and `doctor` name the type.
    return unsupported(error instanceof InvalidSchema ? error.faults.map(({ path }) => pointerTo(path)) : []);
  }
}

const unsupported = (pointers: readonly string[]): { fault: StoredTypeFault } => ({
  fault: { code: 'type-not-supported', pointers: pointers.slice(0, maximumFaults) },
});
