/** Deletion of any number of rows in statements of a bounded size. */

const batchRows = 1_000;

/**
 * Calls `deleteBatch` with the size of a batch until it deletes less than that or `signal` fires, and returns the number of deleted rows. So no table grows faster
 * than it is cleaned.
 */
export async function deleteInBatches(deleteBatch: (limit: number) => Promise<number>, signal?: AbortSignal): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await deleteBatch(batchRows);
    deleted += count;
    if (count < batchRows || signal?.aborted) return deleted;
  }
}
