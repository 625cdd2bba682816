import { z } from 'zod';
import { defineTool, type BridgeTool } from './bridge-tool.js';

export const UPDATE_TODO = 'update_todo';

/** A list of things to do; items are strings or objects such as `{content, status}`, shown as they are given. */
export const todoList = z
  .array(z.union([z.string().max(10_000), z.record(z.string(), z.unknown())]))
  .max(200, 'at most 200 items');

/** Lets a model show its plan. The list goes to the reader of the run as a `todo_update`. */
export function updateTodoTool(): BridgeTool {
  return defineTool({
    name: UPDATE_TODO,
    description:
      'Replaces your list of things to do, which people watching see. Statuses: pending, in_progress, completed.',
    parameters: z.object({ todos: todoList.describe('The whole list: [{content, status}]') }),
    execute: ({ todos }) => Promise.resolve({ count: todos.length }),
  });
}
