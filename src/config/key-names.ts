/** `tokenTtlSeconds` -> `token-ttl-seconds`. */
export function kebabCase(camel: string): string {
  return camel.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `token-ttl-seconds` -> `tokenTtlSeconds`; camel case stays as it is. */
export function camelCase(kebab: string): string {
  return kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `['hermes', 'contextQuery']` -> `HERMES_CONTEXT_QUERY`. */
export function environmentName(path: readonly string[]): string {
  return path.map((key) => kebabCase(key).replaceAll('-', '_').toUpperCase()).join('_');
}

/** A path as YAML readers know it: `external-api.keys[0].workflowNames`. */
export function yamlPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
