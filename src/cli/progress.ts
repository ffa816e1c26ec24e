/** Shows how far a transfer of rows has come: a bar on a terminal, otherwise a line for each table. */
import type { Contents, TableContents } from '../database/transfer/contents.ts';
import type { Desk } from './command.ts';

const width = 30;
const redrawMilliseconds = 100;

export class Progress {
  readonly #errors: Desk['errors'];
  #total = 0;
  #done = 0;
  #table: { name: string; done: number } | undefined;
  #drawnAt = 0;

  constructor(errors: Desk['errors']) {
    this.#errors = errors;
  }

  /** Gives the number of rows to come. Call it before {@link add}. */
  start({ tables }: Contents): void {
    this.#total = tables.reduce((sum, { rows }) => sum + rows, 0);
  }

  add({ name, rows: ofTable }: TableContents, rows: number): void {
    this.#done += rows;
    this.#table = { name, done: rows + (this.#table?.name === name ? this.#table.done : 0) };
    if (this.#errors.isTTY) this.#draw(name);
    else if (this.#table.done === ofTable) this.#errors.write(`${name}: ${ofTable === 1 ? '1 row' : `${ofTable} rows`}\n`);
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.#errors.isTTY && this.#drawnAt > 0) this.#errors.write('\n');
  }

  #draw(name: string): void {
    const now = Date.now();
    if (now - this.#drawnAt < redrawMilliseconds && this.#done < this.#total) return;
    this.#drawnAt = now;
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const bar = '#'.repeat(Math.round(share * width)).padEnd(width, '-');
    // Moves to the start of the line, and removes what the line before has more.
    this.#errors.write(`\r[${bar}] ${Math.floor(share * 100)} %  ${this.#done} of ${this.#total} rows  ${name}\u001b[K`);
  }
}
