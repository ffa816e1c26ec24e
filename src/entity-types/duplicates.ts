/** Finds equal values among those of millions of entities: it stores 8 bytes of each. */
import { hash } from 'node:crypto';
import type { ScalarType } from '../filter/fields.ts';

export class DuplicateFinder {
  #digests = new BigUint64Array(1_024);
  #count = 0;

  add(value: string): void {
    if (this.#count === this.#digests.length) {
      const larger = new BigUint64Array(2 * this.#count);
      larger.set(this.#digests);
      this.#digests = larger;
    }
    this.#digests[this.#count++] = digestOf(value);
  }

  /**
   * The digests that several of the added values have. Different values have the same digest in fewer than one of a million cases at 5
   * million values.
   */
  repeated(): RepeatedDigests {
    const sorted = this.#digests.subarray(0, this.#count).sort();
    const repeated = new Set<bigint>();
    let entities = 0;
    sorted.forEach((digest, index) => {
      if (digest === sorted[index - 1] || digest === sorted[index + 1]) {
        repeated.add(digest);
        entities += 1;
      }
    });
    return { entities, has: (value) => repeated.has(digestOf(value)) };
  }
}

export interface RepeatedDigests {
  /** The number of added values with a digest that others have too. */
  entities: number;
  has(value: string): boolean;
}

function digestOf(value: string): bigint {
  return hash('sha256', value, 'buffer').readBigUInt64LE();
}

/** The value of a companion row in one form for all texts that PostgreSQL takes for the same value. */
export function canonicalValue(type: ScalarType | undefined, value: string | number | boolean): string | number | boolean {
  if (typeof value !== 'string') return value;
  if (type === 'decimal' && value.includes('.')) return value.replace(/\.?0+$/, '');
  if (type !== 'date-time') return value;
  const [, before = '', fraction = '', zone = ''] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(value) ?? [];
  const milliseconds = Date.parse(before.replace(' ', 'T') + zone);
  return Number.isNaN(milliseconds) ? value : `${milliseconds} ${fraction.slice(0, 6).replace(/0+$/, '')}`;
}
