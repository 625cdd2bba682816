import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { RuntimeOutput } from '../protocol/agent-runtime-response.js';

/**
 * The answer of a call, kept until whoever waits for it has it (a visit: until it has ended) and at most for a
 * while; then the row goes. `outputPayloadRef` points here.
 */
@Entity('runtime_call_outputs')
@Index('runtime_call_outputs_by_age', ['keptUntil'])
export class RuntimeCallOutputEntity {
  @PrimaryColumn({ name: 'command_id', type: 'text' })
  commandId!: string;

  @Column({ type: 'json' })
  output!: RuntimeOutput;

  @Column({ name: 'kept_until', type: 'timestamptz', precision: 3 })
  keptUntil!: Date;
}
