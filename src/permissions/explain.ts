/** Explains what a caller may do with entities of a name, or with one of them, and why: by the decision of a request, and by the tests of each grant. */
import { withPresets } from '../entities/writing/presets.ts';
import { typesForRules } from '../entity-types/types-for-rules.ts';
import type { EntityType } from '../entity-types/types.ts';
import { isRefusal, type ProblemCode } from '../problems/errors.ts';
import type { FaultCode } from '../problems/faults.ts';
import { knownRow, type KnownRow } from '../rights/explain.ts';
import { hasField } from '../rights/field-set.ts';
import { authorize, changeRuleOf, readGrants, sensitiveOf, shownSomewhere } from '../rights/permit.ts';
import type { Principal } from '../rights/principal.ts';
import { missingVariables, withoutHidden, type FilterDocument } from '../rights/rule-text.ts';
import { variablesOf } from '../rights/variables.ts';
import type { Action } from '../rights/vocabulary.ts';
import { decideQuestion, type Decision, type DecisionView, type EntityQuestion } from './decide.ts';
import { fieldsOf, type ExplainedFields } from './fields.ts';
import { testGrants, type GrantFindings } from './grant-tests.ts';
import { explainGrants, type ExplainedGrant, type ExplanationReader } from './explained-grants.ts';
import { grantOfPart, listGrants, partsOf, rowsOf, type GrantPart, type ListedGrant } from './listed-grants.ts';

/** A condition besides the grants: the scopes of the credential, a precondition, a value that the caller lacks. */
export type Limit = 'scope' | 'if-match' | 'missing-variable';

export interface PermissionExplanation {
  action: Action;
  allowed: boolean;
  status: number;
  code?: ProblemCode;
  faults: { pointer: string; code: FaultCode }[];
  profile: string | null;
  grants: ExplainedGrant[];
  rows?: FilterDocument;
  fields?: ExplainedFields;
  limits: Limit[];
}

/** Explains the answer to the question. Throws what has failed, such as a connection. */
export async function explainPermission(
  view: DecisionView,
  principal: Principal,
  question: EntityQuestion,
  reader: ExplanationReader,
): Promise<PermissionExplanation> {
  const decision = await decideQuestion(view, principal, question);
  const { entity, action, key } = question;
  const isOfName = key === undefined && question.set === undefined;
  const byName = isOfName ? decision : await decideQuestion(view, principal, { entity, action });
  const type = await typeOf(view, entity);
  return await new Explainer({ view, principal, question, reader }, { decision, byName, type }).explanation();
}

/** The type; undefined for a name without one, also where only declared names exist. */
async function typeOf({ types }: DecisionView, entity: string): Promise<EntityType | undefined> {
  try {
    return await types.find(entity);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

interface ExplainedRequest {
  view: DecisionView;
  principal: Principal;
  question: EntityQuestion;
  reader: ExplanationReader;
}

interface DecidedRequest {
  decision: Decision;
  /** The decision about the name alone. */
  byName: Decision;
  type: EntityType | undefined;
}

class Explainer {
  readonly #asked: ExplainedRequest;
  readonly #decided: DecidedRequest;

  constructor(asked: ExplainedRequest, decided: DecidedRequest) {
    this.#asked = asked;
    this.#decided = decided;
  }

  get #variables() {
    const { principal } = this.#asked;
    return principal.rules?.variables ?? variablesOf(principal);
  }

  async explanation(): Promise<PermissionExplanation> {
    const { view, principal, question, reader } = this.#asked;
    const { entity, action } = question;
    const { problem, status } = this.#decided.decision;
    const list = (...actions: Action[]) => listGrants(view.trx, principal, entity, actions);
    const listed = await (action === 'label' ? list('label', 'read') : list(action));
    const readable = action === 'update' ? rowsOf(await list('read'), 'read', this.#variables, undefined) : undefined;
    const rows = rowsOf(listed, action, this.#variables, readable);
    const isHidden = reader === 'caller' && status === 404;
    const grants = isHidden ? { explained: [] } : await this.#tested(listed);
    return {
      action,
      allowed: problem === undefined,
      status,
      ...(problem && { code: problem.code }),
      faults: (problem?.faults ?? []).map(({ pointer = '', code }) => ({ pointer, code })),
      profile: principal.profile?.name ?? null,
      grants: grants.explained,
      ...(rows && { rows: reader === 'caller' ? withoutHidden(rows, shownSomewhere(principal, entity)) : rows }),
      ...('fields' in grants && grants.fields && { fields: grants.fields }),
      limits: this.#limits(listed),
    };
  }

  #limits(listed: readonly ListedGrant[]): Limit[] {
    const { decision, type } = this.#decided;
    const { action } = this.#asked.question;
    const isGuarded = type?.requiresIfMatch === true && ['update', 'delete', 'purge'].includes(action);
    const lacks = listed.some(({ document }) => missingVariables(document, this.#variables).length > 0);
    return [
      ...(decision.problem?.code === 'insufficient-scope' ? (['scope'] as const) : []),
      ...(isGuarded ? (['if-match'] as const) : []),
      ...(lacks ? (['missing-variable'] as const) : []),
    ];
  }

  async #tested(listed: readonly ListedGrant[]): Promise<{ explained: ExplainedGrant[]; fields: ExplainedFields | undefined }> {
    const { view, principal, question, reader } = this.#asked;
    const { entity } = question;
    const parts = await partsOf(listed, { typeOf: typesForRules(view.types), variables: this.#variables });
    const findings = await this.#findings(listed, parts);
    const reads = readGrants(principal, entity);
    const sensitive = sensitiveOf(principal, entity);
    const all: KnownRow = { isKnown: () => true, covering: reads.filter((_, index) => findings?.reads[index]) };
    const row = reader === 'caller' && findings && question.key !== undefined ? knownRow(reads, findings, sensitive) : all;
    const explained = explainGrants({
      principal,
      question,
      reader,
      listed,
      parts,
      findings,
      decision: this.#decided.decision,
      isKnown: row.isKnown,
    });
    return { explained, fields: this.#fields(listed, findings, row) };
  }

  /** The findings about the row. A caller who may do nothing with the name, or has no right to the row, causes no look at it. */
  async #findings(listed: readonly ListedGrant[], parts: readonly GrantPart[]): Promise<GrantFindings | undefined> {
    const { view, principal, question, reader } = this.#asked;
    const { entity, action, key, set } = question;
    const isRefused = this.#decided.byName.problem !== undefined;
    if (key === undefined && !set) return undefined;
    if (isRefused && (reader === 'caller' || key === undefined)) return undefined;
    const grants = [...listed.map(({ grant }) => grant), ...parts.map(grantOfPart)];
    const text = action === 'create' && set ? withPresets(authorize(principal, entity, action), set).text : set?.text;
    return await testGrants(view.trx, changeRuleOf(principal, entity, grants), { entity, userName: principal.user.name, key, text });
  }

  #fields(listed: readonly ListedGrant[], findings: GrantFindings | undefined, row: KnownRow): ExplainedFields | undefined {
    const { principal, question, reader } = this.#asked;
    const { entity, action, key } = question;
    if (action !== 'read' && action !== 'create' && action !== 'update') return undefined;
    const sensitive = sensitiveOf(principal, entity);
    const isOfRow = findings && key !== undefined;
    const reads = isOfRow ? row.covering : readGrants(principal, entity);
    const covering = listed.filter((_, index) => !isOfRow || findings.covers[index]);
    const isSomewhere = shownSomewhere(principal, entity);
    const isOfCovering = (name: string) => reads.some(({ read }) => hasField(read, name, sensitive));
    return fieldsOf({
      type: this.#decided.type,
      reads,
      writes: action === 'read' ? [] : covering.map(({ grant }) => grant),
      sensitive,
      isShown: reader === 'caller' ? isSomewhere : () => true,
      isReadable: isOfRow && reader === 'caller' ? (name) => isSomewhere(name) && row.isKnown(name) : isOfCovering,
    });
  }
}
