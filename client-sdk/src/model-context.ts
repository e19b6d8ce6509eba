export type {
  ExecuteToolOptions,
  ModelContext,
  ModelContextTool,
  RegisteredTool,
  RegisterToolOptions,
  ToolAnnotations,
  ToolSource,
} from './model-context/model-context.js';
export { createModelContext, type PageModelContext } from './model-context/page-model-context.js';
export {
  serveModelContext,
  type ServedModelContext,
  type ServeModelContextOptions,
} from './model-context/serve-model-context.js';
