/** The `Link` header of a page (RFC 8288): the pages after and before it, as references that a client can follow. */

/** Longer ones would not fit into the headers that clients accept. */
const maximumLength = 4_096;

/** The links of the page at `path` that `query` asked for; undefined if there are none, or if they are too long. */
export function pageLinks(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  cursors: { next: string | undefined; prev: string | undefined },
): string | undefined {
  const links = Object.entries(cursors).flatMap(([rel, cursor]) => {
    if (cursor === undefined) return [];
    const parameters = Object.entries({ ...query, cursor }).filter(
      (parameter): parameter is [string, string] => parameter[1] !== undefined,
    );
    return [`<${path}?${new URLSearchParams(parameters).toString()}>; rel="${rel}"`];
  });
  const header = links.join(', ');
  return header === '' || header.length > maximumLength ? undefined : header;
}
