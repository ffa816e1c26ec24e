/** How far a long step has come: a bar on a terminal, otherwise a line for each tenth. */
const width = 30;

export class ProgressBar {
  readonly #out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #title: string;
  readonly #total: number;
  #done = 0;
  #shown = -1;

  constructor(out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>, title: string, total: number) {
    this.#out = out;
    this.#title = title;
    this.#total = total;
  }

  add(count: number): void {
    this.#done += count;
    const percent = Math.floor((100 * this.#done) / this.#total);
    const step = this.#out.isTTY ? percent : Math.floor(percent / 10) * 10;
    if (step === this.#shown) return;
    this.#shown = step;
    const bar = '#'.repeat(Math.round((percent * width) / 100)).padEnd(width, '-');
    this.#out.write(this.#out.isTTY ? `\r[${bar}] ${percent} %  ${this.#title}\u001b[K` : `${this.#title}: ${step} %\n`);
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.#out.isTTY) this.#out.write('\n');
  }
}
