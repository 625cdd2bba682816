import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { ApiKeyNotFoundError } from './api-key-errors.js';
import { ApiKeyRepository } from './api-key.repository.js';

/** Ends an API key at once, in every process. Its hash stays, so that nobody gets the same key again. */
@Injectable()
export class RevokeApiKey {
  constructor(private readonly repository: ApiKeyRepository) {}

  /** Throws ApiKeyNotFoundError, also for a key of the configuration. */
  async execute(id: string): Promise<void> {
    const known = z.uuid().safeParse(id).success && (await this.repository.revoke(id, new Date()));
    if (!known) throw new ApiKeyNotFoundError(id);
  }
}
