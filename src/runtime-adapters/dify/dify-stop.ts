import type { DifyRef } from './dify-request.js';

export function stopPathOf(ref: DifyRef, taskId: string): string {
  return ref.appType === 'workflow' ? `/workflows/tasks/${taskId}/stop` : `/chat-messages/${taskId}/stop`;
}
