/** The most rows and characters of a statement. PostgreSQL takes about a second for a million characters. */
const maximumRows = 500;
const maximumCharacters = 1_000_000;

/** Splits rows into parts that one statement takes each. `textOf` returns the text of a row in the statement. A part ends with the row that reaches a limit. */
export function* statementParts<R>(rows: readonly R[], textOf: (row: R) => string): Generator<readonly R[]> {
  for (let from = 0; from < rows.length;) {
    let [end, characters] = [from, 0];
    for (const row of rows.slice(from, from + maximumRows)) {
      if (characters >= maximumCharacters) break;
      characters += textOf(row).length;
      end += 1;
    }
    yield rows.slice(from, end);
    from = end;
  }
}
