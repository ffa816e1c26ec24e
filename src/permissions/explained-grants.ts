/** The grants of an explanation: what each one has found on the row, as far as its reader may be told. */
import { isEnvelopeName } from '../filter/fields.ts';
import type { Filter } from '../filter/syntax.ts';
import { disclosedGrants, followsFrom, type TestedGrant } from '../rights/explain.ts';
import { shownSomewhere } from '../rights/permit.ts';
import type { Principal } from '../rights/principal.ts';
import type { IsVisible } from '../rights/rule-text.ts';
import type { Decision, EntityQuestion } from './decide.ts';
import type { GrantFindings } from './grant-tests.ts';
import { failedPlaces, type GrantPart, type ListedGrant } from './listed-grants.ts';

/** The reader of an explanation: the caller itself, who is told nothing that its requests do not tell, or an administrator. */
export type ExplanationReader = 'caller' | 'administrator';

/** A grant of the action, and what it says about the row. */
export interface ExplainedGrant {
  role: string;
  grant: string;
  covers?: boolean;
  check?: boolean;
  failed: string[];
  write?: string[];
}

interface FoundGrants {
  principal: Principal;
  question: EntityQuestion;
  reader: ExplanationReader;
  decision: Decision;
  listed: readonly ListedGrant[];
  parts: readonly GrantPart[];
  /** Of the grants, and behind them of the parts; undefined if no row was tested. */
  findings: GrantFindings | undefined;
  /** The cells of the row that the reader knows. */
  isKnown: IsVisible;
}

export function explainGrants(found: FoundGrants): ExplainedGrant[] {
  const { listed, parts, findings, reader, isKnown, decision } = found;
  const tested = listed.map((each, index) => testedGrant(found, each, index));
  const isKnownAfter = knowledgeAfter(found);
  const tellsChecks = !decision.problem || decision.problem.faults.some(({ code }) => code === 'value-forbidden');
  const told = reader === 'caller' ? disclosedGrants(tested, { isKnown, isKnownAfter, tellsChecks }) : tested;
  const isNamed = found.question.key === undefined ? nameable(found) : undefined;
  const isTold = (isVisible: IsVisible) => (test: Filter) => reader === 'administrator' || followsFrom(test, isVisible);
  return listed.map(({ role, name, action, document }, index) => {
    const { covers, accepts } = told[index] ?? {};
    const failing = (kind: GrantPart['kind'], results: readonly boolean[] = []) =>
      parts.filter((part, at) => part.of === index && part.kind === kind && results[listed.length + at] === false);
    const explained: ExplainedGrant = { role, grant: name, failed: [] };
    if (covers !== undefined) explained.covers = covers;
    if (covers === false) explained.failed = failedPlaces(failing('filter', findings?.covers), isTold(isNamed ?? isKnown));
    else if (accepts !== undefined) explained.check = accepts;
    if (explained.check === false) explained.failed = failedPlaces(failing('check', findings?.accepts), isTold(isNamed ?? isKnownAfter));
    if (action === 'create' || action === 'update') explained.write = [...(document.write ?? ['*'])];
    return explained;
  });
}

function testedGrant({ question, findings }: FoundGrants, { grant, action }: ListedGrant, index: number): TestedGrant {
  // A grant to update without a rule covers what the caller reads (rule 116).
  const isReadable = grant.kind === 'rule' || action !== 'update' || findings?.reads.includes(true) === true;
  return {
    grant,
    covers: findings && question.key !== undefined ? findings.covers[index] === true && isReadable : undefined,
    accepts: question.set && findings?.accepts[index],
  };
}

/** The cells that the reader knows of the row afterwards: all of a new one, and what it has sent in place of a value. */
function knowledgeAfter({ question: { key, set }, isKnown }: FoundGrants): IsVisible {
  const sent = (set?.fields ?? {}) as Readonly<Record<string, unknown>>;
  // An object is merged into what the row has.
  const isReplaced = (name: string) => Object.hasOwn(sent, name) && (typeof sent[name] !== 'object' || sent[name] === null);
  return (name) => key === undefined || isReplaced(name) || isKnown(name);
}

/** The fields of a new entity that the reader may know of. */
function nameable({ reader, principal, question: { entity, set } }: FoundGrants): IsVisible {
  const isSomewhere = shownSomewhere(principal, entity);
  const sent = new Set(Object.keys(set?.fields ?? {}));
  return (name) => reader === 'administrator' || isEnvelopeName(name) || sent.has(name) || isSomewhere(name);
}
