import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AgentConfig } from './config/agent-config.js';

export type AgentVersionStatus = 'DRAFT' | 'PUBLISHED';

/** A version of an agent. Its config never changes; a trigger refuses any change of a published one. */
@Entity('agent_versions')
export class AgentVersionEntity {
  @PrimaryColumn({ name: 'agent_key', type: 'text' })
  agentKey!: string;

  /** 1, 2, 3, … per agent. */
  @PrimaryColumn({ type: 'integer' })
  version!: number;

  @Column({ type: 'text' })
  status!: AgentVersionStatus;

  /** Old imported ones may lack `runtimeProvider` (decision 35). */
  @Column({ type: 'json' })
  config!: Partial<AgentConfig>;

  @Column({ name: 'copied_from', type: 'integer', nullable: true })
  copiedFrom!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** Name of the admin key. */
  @Column({ name: 'created_by', type: 'json' })
  createdBy!: string;

  @Column({ name: 'published_at', type: 'timestamptz', precision: 3, nullable: true })
  publishedAt!: Date | null;

  @Column({ name: 'published_by', type: 'json', nullable: true })
  publishedBy!: string | null;

  @Column({ name: 'publish_reason', type: 'json', nullable: true })
  publishReason!: string | null;
}
