/** The answer of the rules of a permit to one change. */
import { memberTexts } from '../../json/json-parts.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import type { ChangedMembers, ChangeFacts, ChangeRule } from '../../rights/change-rule.ts';

export class Judgement {
  readonly #rule: ChangeRule;
  readonly #facts: ChangeFacts;
  readonly #members: ChangedMembers;
  readonly #isNew: boolean;

  constructor(rule: ChangeRule, facts: ChangeFacts, members: ChangedMembers, isNew: boolean) {
    this.#rule = rule;
    this.#facts = facts;
    this.#members = members;
    this.#isNew = isNew;
  }

  /** Throws 403 `field-forbidden` with the members that the caller may not write. */
  requireWritable(): void {
    this.#requireNone(this.#rule.unwritable(this.#facts, this.#members));
  }

  /** Throws 403 `field-forbidden` with the members whose values no check allows. */
  requireAccepted(): void {
    this.#requireNone(this.#rule.forbidden(this.#facts, this.#members, this.#isNew));
  }

  /** Throws 403 `field-forbidden` as both. */
  requireAllowed(): void {
    this.requireWritable();
    this.requireAccepted();
  }

  /** Throws as {@link requireAccepted}, unless that has to wait for {@link requireAcceptedTargets}. */
  requireAcceptedFields(): void {
    if (!this.#rule.checksOthers) this.requireAccepted();
  }

  /**
   * The other half, after the references were found to lead to what the caller may refer to. Before that, the answer of a check that looks through them would tell of an
   * entity that is hidden from the caller (rule 178).
   */
  requireAcceptedTargets(): void {
    if (this.#rule.checksOthers) this.requireAccepted();
  }

  #requireNone(faults: readonly Fault[]): void {
    if (faults.length === 0) return;
    const audit = { action: this.#isNew ? 'create' : 'update', ...this.#rule.refusedChange(this.#facts, this.#members) };
    throw new Problem('field-forbidden', { faults, audit });
  }

  /** The fields of the row afterwards that its answer shows, JSON text as PostgreSQL writes it. A create shows all that the caller has sent. */
  shown(fields: string): string {
    const isShown = (name: string) => this.#rule.isShownAfter(this.#facts, name) || (this.#isNew && this.#members.sent.includes(name));
    const members = [...memberTexts(fields)].filter(([name]) => isShown(name));
    return `{${members.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(', ')}}`;
  }

  get rule(): ChangeRule {
    return this.#rule;
  }

  /** Whether the caller has sent a member that the row before hides. Whether it was the same value is not told then. */
  get sendsHidden(): boolean {
    return !this.#isNew && this.#members.sent.some((name) => !this.#rule.isShownBefore(this.#facts, name));
  }

  /** Whether the caller has sent the member or may see it. */
  isKnown(member: string): boolean {
    if (this.#members.sent.includes(member)) return true;
    return this.#isNew ? this.#rule.isKnownOfNew(this.#facts, member) : this.#rule.isShownBefore(this.#facts, member);
  }
}
