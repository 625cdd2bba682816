import type { IncomingMessage } from 'node:http';

/** The part of Express's router that tells which routes there are. */
interface RouteLayer {
  readonly match?: (path: string) => boolean;
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
}

export interface RoutedApplication {
  readonly router?: { readonly stack?: readonly RouteLayer[] };
}

/** The methods that some route takes at this request's path, in upper case; empty where there is no such path. */
export function allowedMethods(
  application: RoutedApplication,
  request: IncomingMessage & { path: string },
): string[] {
  const methods = new Set<string>();
  for (const layer of application.router?.stack ?? []) {
    if (!layer.route || !matches(layer, request.path)) continue;
    for (const [method, taken] of Object.entries(layer.route.methods)) {
      // `_all`: the route of a not-found handler, say.
      if (taken && !method.startsWith('_')) methods.add(method.toUpperCase());
    }
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match?.(path) ?? false;
  } catch {
    // Malformed percent-encoding: the router itself answers 400.
    return false;
  }
}
