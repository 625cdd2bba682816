import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A name that workflows call instead of an agent; which agent that is can change without them. */
@Entity('agent_slots')
@Index('agent_slots_by_agent', ['agentKey'])
export class AgentSlotEntity {
  @PrimaryColumn({ name: 'slot_key', type: 'text' })
  slotKey!: string;

  @Column({ name: 'agent_key', type: 'text' })
  agentKey!: string;

  @Column({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt!: Date;
}
