import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';

export interface ControllerRoute {
  /** As OpenAPI writes it: `GET /admin/v1/agents/{agentKey}`. */
  readonly route: string;
  /** The method that serves it, for its other decorators. */
  readonly handler: object;
}

/** Every route of the controllers, by Nest's own decorators. */
export function controllerRoutes(controllers: readonly Type[]): ControllerRoute[] {
  return controllers.flatMap((controller) => {
    const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
    const prototype = controller.prototype as Record<string, object>;
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = name === 'constructor' ? undefined : prototype[name];
      const path = handler && (Reflect.getMetadata(PATH_METADATA, handler) as string | undefined);
      if (handler === undefined || path === undefined) return [];
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
      const joined = `/${base}/${path}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
      return [{ route: `${method} ${joined.replace(/:(\w+)/g, '{$1}')}`, handler }];
    });
  });
}
