/** Shows how far long work has come: a bar on a terminal, otherwise lines. */
import type { Contents, TableContents } from '../database/transfer/contents.ts';
import type { BuildPhase, BuildProgress } from '../entity-types/transaction.ts';
import type { Desk } from './command.ts';

const width = 30;
const redrawMs = 100;

/** A line of a terminal that is drawn again and again. */
class Bar {
  readonly #errors: Desk['errors'];
  #drawnAt = 0;

  constructor(errors: Desk['errors']) {
    this.#errors = errors;
  }

  draw(done: number, total: number, text: string, isLast = done === total): void {
    const now = Date.now();
    if (now - this.#drawnAt < redrawMs && !isLast) return;
    this.#drawnAt = now;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const bar = '#'.repeat(Math.round(share * width)).padEnd(width, '-');
    // Moves to the start of the line, and removes what the line before has more.
    this.#errors.write(`\r[${bar}] ${Math.floor(share * 100)} %  ${text}\u001b[K`);
  }

  /** Ends the line. */
  end(): void {
    if (this.#drawnAt > 0) this.#errors.write('\n');
  }
}

const phases: Readonly<Record<BuildPhase, string>> = {
  check: 'entities checked',
  rows: 'entities indexed',
  indexes: 'indexes built',
  references: 'references checked',
};

/** Of changes of types. Without a terminal each phase that is done is a line. */
export class TypeProgress {
  readonly #errors: Desk['errors'];
  readonly #bar: Bar;
  #phase = '';
  #isTold = false;
  #since = 0;

  constructor(errors: Desk['errors']) {
    this.#errors = errors;
    this.#bar = new Bar(errors);
  }

  report({ name, phase, done, total }: BuildProgress): void {
    const shown = `${name} ${phase}`;
    if (this.#phase !== shown) {
      this.#phase = shown;
      this.#isTold = false;
      this.#since = Date.now();
    }
    const seconds = (Date.now() - this.#since) / 1_000;
    const rate = seconds >= 1 ? `, ${Math.round(done / seconds)}/s` : '';
    const text = `${name}: ${done} of ${total} ${phases[phase]}`;
    if (this.#errors.isTTY) this.#bar.draw(done, total, `${text}${rate}`);
    else if (done === total && !this.#isTold) this.#errors.write(`${text}\n`);
    this.#isTold = done === total;
  }

  wait(name: string): void {
    this.#errors.write(`${name}: waiting for another build of this type\n`);
  }

  end(): void {
    this.#bar.end();
  }
}

/** Of a transfer of rows. Without a terminal each table that is done is a line. */
export class Progress {
  readonly #errors: Desk['errors'];
  #total = 0;
  #done = 0;
  readonly #bar: Bar;
  #table: { name: string; done: number } | undefined;

  constructor(errors: Desk['errors']) {
    this.#errors = errors;
    this.#bar = new Bar(errors);
  }

  /** Gives the number of rows to come. Call it before {@link add}. */
  start({ tables }: Contents): void {
    this.#total = tables.reduce((sum, { rows }) => sum + rows, 0);
  }

  add({ name, rows: ofTable }: TableContents, rows: number): void {
    this.#done += rows;
    this.#table = { name, done: rows + (this.#table?.name === name ? this.#table.done : 0) };
    if (this.#errors.isTTY)
      this.#bar.draw(this.#done, this.#total, `${this.#done} of ${this.#total} rows  ${name}`, this.#done >= this.#total);
    else if (this.#table.done === ofTable) this.#errors.write(`${name}: ${ofTable === 1 ? '1 row' : `${ofTable} rows`}\n`);
  }

  /** Ends the line of the bar. */
  end(): void {
    this.#bar.end();
  }
}

/** Of a file that is read or written. Without a terminal each 10,000 rows are a line. */
export class FileProgress {
  readonly #errors: Desk['errors'];
  readonly #bar: Bar;
  readonly #what: string;
  readonly #total: number | undefined;
  readonly #since = Date.now();
  #told = 0;
  done = 0;

  /** `total` is in the unit of {@link add}: bytes of a file that is read, otherwise rows; undefined if it is unknown. */
  constructor(errors: Desk['errors'], what: string, total: number | undefined) {
    this.#errors = errors;
    this.#bar = new Bar(errors);
    this.#what = what;
    this.#total = total;
  }

  add(count: number): void {
    this.done += count;
  }

  /** Shows how many rows are done, how many in a second, and how many seconds are left. */
  show(rows: number): void {
    const seconds = (Date.now() - this.#since) / 1_000;
    const rate = seconds >= 1 ? `, ${Math.round(rows / seconds)}/s` : '';
    const total = this.#total;
    const left =
      total !== undefined && seconds >= 1 && this.done > 0 ? `, ${Math.ceil((seconds * (total - this.done)) / this.done)} s left` : '';
    const text = `${rows} ${this.#what}${rate}`;
    if (this.#errors.isTTY) this.#bar.draw(this.done, total ?? this.done + 1, text + left);
    else if (rows - this.#told >= 10_000) {
      this.#told = rows;
      this.#errors.write(`${text}\n`);
    }
  }

  /** Writes a line that stays. */
  writeLine(line: string): void {
    this.#errors.write(this.#errors.isTTY ? `\r${line}\u001b[K\n` : `${line}\n`);
  }

  /** Ends the line of the bar. */
  end(): void {
    this.#bar.end();
  }
}
