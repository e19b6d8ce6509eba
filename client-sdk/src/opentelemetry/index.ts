export { activeTrace, type TraceFields } from './trace-fields.js';
export { tracedFunctions } from './traced-functions.js';
export { tracedHub } from './traced-hub.js';
