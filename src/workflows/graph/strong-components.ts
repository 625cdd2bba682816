/**
 * Strongly connected components (Tarjan), without recursion. `next[n]` are the nodes that n leads to; a component
 * comes after every component that it leads to.
 */
export function strongComponents(next: readonly (readonly number[])[]): number[][] {
  const order = new Int32Array(next.length).fill(-1);
  const low = new Int32Array(next.length);
  const isOpen = new Uint8Array(next.length);
  const open: number[] = [];
  const components: number[][] = [];
  const path: { node: number; tried: number }[] = [];
  let count = 0;

  const lower = (node: number, to: number | undefined) => {
    low[node] = Math.min(low[node] ?? 0, to ?? 0);
  };
  const enter = (node: number) => {
    order[node] = count;
    low[node] = count;
    count += 1;
    open.push(node);
    isOpen[node] = 1;
    path.push({ node, tried: 0 });
  };
  const leave = (node: number) => {
    if (low[node] !== order[node]) return;
    const component = open.splice(open.lastIndexOf(node));
    for (const member of component) isOpen[member] = 0;
    components.push(component);
  };

  for (let start = 0; start < next.length; start += 1) {
    if (order[start] !== -1) continue;
    enter(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const child = next[top.node]?.[top.tried];
      top.tried += 1;
      if (child === undefined) {
        path.pop();
        leave(top.node);
        const parent = path.at(-1);
        if (parent) lower(parent.node, low[top.node]);
      } else if (order[child] === -1) {
        enter(child);
      } else if (isOpen[child] === 1) {
        lower(top.node, order[child]);
      }
    }
  }
  return components;
}
