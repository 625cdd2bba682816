/** The text of a migration: `name` in kebab case, one statement a query. */
export function migrationSource(
  name: string,
  millis: number,
  up: readonly string[],
  down: readonly string[],
): string {
  const className = name.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter: string) => letter.toUpperCase());
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${className}${millis} implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
${statements(up)}
  }

  async down(queryRunner: QueryRunner): Promise<void> {
${statements(down)}
  }
}
`;
}

function statements(queries: readonly string[]): string {
  return queries.map((query) => `    await queryRunner.query(${literal(query)});`).join('\n');
}

function literal(query: string): string {
  return `\`${query.replace(/[\\`]|\$\{/g, (special) => `\\${special}`)}\``;
}
