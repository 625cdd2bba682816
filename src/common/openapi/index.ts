export { buildDocument, type DocumentDescription, type OpenApiDocument } from './build-document.js';
export { queryParameters } from './query-parameters.js';
export { Describe, type OperationDescription, type ParameterDescription } from './operation.js';
