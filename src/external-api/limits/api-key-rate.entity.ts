import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How much of its rate a key has used: the time at which all its requests so far would be spread evenly. */
@Entity('api_key_rates')
export class ApiKeyRateEntity {
  @PrimaryColumn({ name: 'key_name', type: 'text' })
  keyName!: string;

  @Column({ name: 'used_until', type: 'timestamptz' })
  usedUntil!: Date;
}
