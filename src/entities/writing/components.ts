/** A node of a graph, with the nodes to which its edges lead. */
interface GraphNode<N> {
  readonly followers: ReadonlySet<N>;
}

/**
 * The strongly connected components of the nodes, with all that their edges lead to, by the algorithm of Tarjan (1972). The edges of a component lead to
 * itself and to those before it.
 */
export function componentsOf<N extends GraphNode<N>>(nodes: Iterable<N>): N[][] {
  const components: N[][] = [];
  const indexes = new Map<N, number>();
  /** By node that has no component yet, the lowest index that the nodes behind it lead to. */
  const lowest = new Map<N, number>();
  const path: N[] = [];
  const lower = (node: N, index = Infinity) => lowest.set(node, Math.min(index, lowest.get(node) ?? Infinity));
  const enter = (node: N) => {
    indexes.set(node, indexes.size);
    lower(node, indexes.get(node));
    path.push(node);
    return { node, followers: node.followers.values() };
  };
  for (const start of nodes) {
    const frames = indexes.has(start) ? [] : [enter(start)];
    for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
      const { node, followers } = frame;
      const { value: next } = followers.next();
      if (next && !indexes.has(next)) frames.push(enter(next));
      else if (next) {
        if (lowest.has(next)) lower(node, indexes.get(next));
      } else {
        frames.pop();
        const parent = frames.at(-1);
        if (parent) lower(parent.node, lowest.get(node));
        if (lowest.get(node) !== indexes.get(node)) continue;
        const component = path.splice(path.lastIndexOf(node));
        for (const member of component) lowest.delete(member);
        components.push(component);
      }
    }
  }
  return components;
}
