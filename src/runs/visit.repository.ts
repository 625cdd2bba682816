import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { VisitEntity } from './visit.entity.js';

/** Reads visits; writing them is the journal's. */
@Injectable()
export class VisitRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** All visits of a run, skipped nodes included, in the order of their beginning. */
  ofRun(runId: string): Promise<VisitEntity[]> {
    return this.dataSource.getRepository(VisitEntity).find({ where: { runId }, order: { sortOrder: 'ASC' } });
  }

  find(visitUuid: string): Promise<VisitEntity | null> {
    return this.dataSource.getRepository(VisitEntity).findOneBy({ visitUuid });
  }
}
