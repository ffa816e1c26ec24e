/** Ctrl-C and SIGTERM cancel long work of a command, which then says what it has left. Without this they end the process at once. */
const signals = ['SIGINT', 'SIGTERM'] as const;

export class Cancellation implements Disposable {
  readonly #controller = new AbortController();
  readonly #cancel = () => this.#controller.abort();
  readonly signal = this.#controller.signal;

  constructor() {
    for (const name of signals) process.once(name, this.#cancel);
  }

  [Symbol.dispose](): void {
    for (const name of signals) process.off(name, this.#cancel);
  }
}
