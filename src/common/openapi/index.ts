export { buildDocument, type DocumentDescription, type OpenApiDocument } from './build-document.js';
export { Describe, type OperationDescription, type ParameterDescription } from './operation.js';
