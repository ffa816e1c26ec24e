/** The members and items of one value that keywords have evaluated (JSON Schema 2020-12, core, "Unevaluated Locations"). */

export class Evaluated {
  #names: Set<string> | undefined;
  #hasAllNames = false;
  /** All items before this index. */
  #itemsBefore = 0;
  #indices: Set<number> | undefined;

  addName(name: string): void {
    (this.#names ??= new Set()).add(name);
  }

  addAllNames(): void {
    this.#hasAllNames = true;
  }

  /** Adds the items from the first one up to the one before `end`; Infinity stands for all. */
  addItemsBefore(end: number): void {
    this.#itemsBefore = Math.max(this.#itemsBefore, end);
  }

  addItem(index: number): void {
    (this.#indices ??= new Set()).add(index);
  }

  hasName(name: string): boolean {
    return this.#hasAllNames || this.#names?.has(name) === true;
  }

  hasItem(index: number): boolean {
    return index < this.#itemsBefore || this.#indices?.has(index) === true;
  }

  /** Adds what `other` has. */
  add(other: Evaluated): void {
    this.#hasAllNames ||= other.#hasAllNames;
    for (const name of other.#names ?? []) this.addName(name);
    this.addItemsBefore(other.#itemsBefore);
    for (const index of other.#indices ?? []) this.addItem(index);
  }
}
