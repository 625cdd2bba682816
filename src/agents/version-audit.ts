import { createHash } from 'node:crypto';
import { canonicalJson } from '../common/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../common/json/json-value.js';
import type { AgentVersionEntity } from './agent-version.entity.js';

/** What the audit log keeps of a version: all but the long texts, which the digest of the whole config stands for. */
export function auditedVersion({ version, status, config, copiedFrom }: AgentVersionEntity): JsonObject {
  const plain = JSON.parse(JSON.stringify(config)) as JsonObject;
  const configDigest = createHash('sha256').update(canonicalJson(plain)).digest('hex');
  const { instructions, outputContract, ...rest } = plain;
  return {
    version,
    status,
    copiedFrom,
    configDigest,
    config: {
      ...rest,
      ...(typeof instructions === 'string' ? { instructionsChars: instructions.length } : {}),
      ...(outputContract === undefined ? {} : { outputContract: typeOf(outputContract) }),
    },
  };
}

function typeOf(contract: JsonValue): JsonValue {
  return typeof contract === 'object' && contract !== null && !Array.isArray(contract)
    ? (contract.type ?? null)
    : null;
}
