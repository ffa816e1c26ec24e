/**
 * The contract with the types that a caller may see, as text. Making it takes time, so it is made in turns, and the last texts are stored.
 */
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../rights/principal.ts';
import type { ContractDocument } from '../contract/contract.ts';
import type { TypedContract, TypedContractRequest } from '../pages/typed.ts';
import type { Database } from '../database/tables.ts';
import { type Action, allActions } from '../rights/vocabulary.ts';
import { contentTag, etagOf, isCurrent } from '../entities/etag.ts';
import { Problem } from '../problems/errors.ts';
import type { Admission } from '../admission/admission.ts';
import { inTurn } from '../admission/turns.ts';
import type { FieldRights } from '../rights/field-rights.ts';
import { contractFields, isPermitted } from '../rights/permit.ts';
import { type Languages, wantedLanguages } from '../locales/negotiate.ts';
import { localizedDocument } from './localized.ts';
import { findDocuments, listTypes } from './store.ts';
import { readableDocument } from './stored-document.ts';
import { joinParts, PartMaker, type TypePart } from './typed-contract/derive.ts';
import { schemaNames } from './typed-contract/names.ts';
import { parseJson } from '../json/parse-json.ts';

/** Characters of the documents of types, and of what is made of them, for one answer. */
const maximumCharacters = { documents: 4_194_304, parts: 16_777_216 };
/** Documents that one statement reads. */
const documentsAtOnce = 50;
const storedCharacters = 33_554_432;

interface SeenName {
  name: string;
  revision: string;
  actions: ReadonlySet<Action>;
  /** Undefined for a caller whose grants name no fields of entities without sensitive ones. */
  fields: FieldRights | undefined;
}

type NamedType = SeenName & { base: string };

interface WantedContract {
  contract: ContractDocument;
  wanted: readonly NamedType[];
  languages: Languages;
}

interface Made {
  text: string;
  tag: string;
}

export class TypedContracts {
  readonly #db: Kysely<Database>;
  readonly #admission: Admission;
  readonly #tags = new WeakMap<ContractDocument, string>();
  readonly #made = new LRUCache<string, Made>({ maxSize: storedCharacters, sizeCalculation: ({ text }) => text.length });

  constructor(db: Kysely<Database>, admission: Admission) {
    this.#db = db;
    this.#admission = admission;
  }

  /** The names of types on whose entities the principal may do something, in order. */
  async namesFor(principal: Principal): Promise<string[]> {
    return (await this.#seenBy(principal)).map(({ name }) => name);
  }

  /**
   * `contract` with the named types; `*` stands for all that the principal may see. Throws 404 if one does not exist for the principal
   * (rule 64), and 422 if the document would be too long. Throws 503 `busy` if too many others are being made.
   */
  async contractFor(principal: Principal, { contract, names, ifNoneMatch, acceptLanguage }: TypedContractRequest): Promise<TypedContract> {
    const seen = await this.#seenBy(principal);
    // Those of all, so that a type has the same name in every document for the caller.
    const bases = schemaNames(
      seen.map(({ name }) => name),
      contract,
    );
    const wanted = seen
      .filter(({ name }) => names.includes('*') || names.includes(name))
      .map(({ name, revision, actions, fields }) => ({ name, revision, actions, fields, base: bases.get(name) ?? name }));
    if (!names.includes('*') && wanted.length < new Set(names).size) throw new Problem('not-found');
    const languages = wantedLanguages({ session: principal.locale, acceptLanguage });
    const key = contentTag(
      JSON.stringify([
        this.#tagOf(contract),
        languages.id,
        ...wanted.map(({ revision, base, actions, fields }) => [revision, base, fields?.digest ?? null, ...actions]),
      ]),
    );
    const { text, tag } = this.#made.get(key) ?? (await this.#makeInTurn(principal, key, { contract, wanted, languages }));
    return { etag: etagOf(tag), text: isCurrent(ifNoneMatch, tag) ? undefined : text };
  }

  async #seenBy(principal: Principal): Promise<SeenName[]> {
    const types = await listTypes(this.#db);
    return types.flatMap(({ name, revision }) => {
      const may = (action: Action) => isPermitted(principal, name, action);
      // An update is answered with the entity, so it needs `read` too.
      const actions = new Set(allActions.filter((action) => may(action) && (action !== 'update' || may('read'))));
      return actions.size === 0 ? [] : [{ name, revision, actions, fields: contractFields(principal, name) }];
    });
  }

  #tagOf(contract: ContractDocument): string {
    const tag = this.#tags.get(contract) ?? contentTag(JSON.stringify(contract));
    this.#tags.set(contract, tag);
    return tag;
  }

  #makeInTurn({ user }: Principal, key: string, wanted: WantedContract): Promise<Made> {
    return this.#admission.run('contract', { flow: user.name }, async () => {
      const made = this.#made.get(key) ?? (await this.#make(user.name, wanted));
      this.#made.set(key, made);
      return made;
    });
  }

  async #make(userName: string, { contract, wanted, languages }: WantedContract): Promise<Made> {
    const maker = new PartMaker(contract);
    const parts: TypePart[] = [];
    const length = { documents: 0, parts: 0 };
    for (let first = 0; first < wanted.length; first += documentsAtOnce) {
      const some = wanted.slice(first, first + documentsAtOnce);
      const documents = await findDocuments(
        this.#db,
        some.map(({ revision }) => revision),
      );
      for (const { revision, ...type } of some) {
        // A revision that has been deleted meanwhile.
        const text = documents.get(revision) ?? '{}';
        length.documents += text.length;
        requireLength(length.documents, maximumCharacters.documents);
        const part = await oneTurn(userName, () =>
          maker.part({ ...type, document: localizedDocument(languages, readableDocument(parseJson(text))) }),
        );
        length.parts += part.paths.length + part.schemas.length;
        requireLength(length.parts, maximumCharacters.parts);
        parts.push(part);
      }
    }
    return await oneTurn(userName, () => {
      const text = joinParts(contract, parts);
      return { text, tag: contentTag(text) };
    });
  }
}

function requireLength(length: number, limit: number): void {
  if (length > limit)
    throw new Problem('validation-failed', { faults: [{ parameter: 'type', code: 'too-long', values: { maximum: limit } }] });
}

/** The result of the work, which runs in the caller's turn. */
function oneTurn<T>(caller: string, work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    inTurn(caller, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}
