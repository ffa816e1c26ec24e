/** The way to find the rows of a list: over the indexes of the companion table where they are of use, else over the table of entities. */
import { companionRoad } from './companion-road.ts';
import { entityRoad } from './entity-road.ts';
import { constantOf } from '../../filter/syntax.ts';
import type { Road, RoadQuery } from './road.ts';

/** The road over the companion table, or the one over the table of entities if none of its indexes is of use. */
export function roadOf(wanted: RoadQuery): Road {
  const isEmpty = constantOf(wanted.filter) === false;
  return (!isEmpty && wanted.companion && companionRoad(wanted, wanted.companion)) || entityRoad(wanted);
}
