import type { AgentEntity, AgentSlotEntity, AgentVersionEntity } from '../../agents/index.js';

/** An agent as the calls that change it answer. */
export interface AgentView {
  agentKey: string;
  displayName: string;
  description: string;
  currentVersion: number | null;
  latestVersion: number | null;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
}

export function agentView(agent: AgentEntity): AgentView {
  return {
    agentKey: agent.agentKey,
    displayName: agent.displayName,
    description: agent.description,
    currentVersion: agent.currentVersion,
    latestVersion: agent.lastVersion === 0 ? null : agent.lastVersion,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
    archivedAt: agent.archivedAt?.toISOString() ?? null,
  };
}

export interface AgentVersionView {
  agentKey: string;
  version: number;
  status: AgentVersionEntity['status'];
  config: AgentVersionEntity['config'];
  copiedFrom: number | null;
  createdAt: string;
  createdBy: string;
  publishedAt: string | null;
  publishedBy: string | null;
  publishReason: string | null;
}

export function agentVersionView(version: AgentVersionEntity): AgentVersionView {
  return {
    agentKey: version.agentKey,
    version: version.version,
    status: version.status,
    config: version.config,
    copiedFrom: version.copiedFrom,
    createdAt: version.createdAt.toISOString(),
    createdBy: version.createdBy,
    publishedAt: version.publishedAt?.toISOString() ?? null,
    publishedBy: version.publishedBy,
    publishReason: version.publishReason,
  };
}

export interface SlotView {
  slotKey: string;
  agentKey: string;
  updatedAt: string;
}

export function slotView({ slotKey, agentKey, updatedAt }: AgentSlotEntity): SlotView {
  return { slotKey, agentKey, updatedAt: updatedAt.toISOString() };
}
