/** Collects bytes that arrive in parts, such as a body or a line. */

const initialBytes = 1_024;

/** Many small parts cost no more memory or time than a large one, since the array doubles when it is full. */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** Copies the part, which may be a view of a buffer that is many times as long. */
  append(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length, initialBytes));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    part.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** The bytes that were appended since the last call. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }
}
