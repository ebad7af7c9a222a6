export { LargeBody } from './body-limit.js';
export { createHttpApp, type HttpAppOptions } from './create-http-app.js';
export {
  declareField,
  type DtoClass,
  type FieldDeclaration,
  type FieldOptions,
  IgnoredField,
  IgnoreUnknownFields,
  type Rule,
} from './declared-field.js';
export { ApiAnswerHeader, type AnswerHeader } from './docs/answer-headers.js';
export { ApiCauses, ApiErrors } from './docs/api-errors.js';
export { OpenApiDocument } from './docs/open-api-document.js';
export { ErrorFilter, sendError } from './error-filter.js';
export { textRule } from './field-rules.js';
export * from './fields.js';
export { Health, HealthCheck, NotReady, type Readiness } from './health.js';
export { HttpModule } from './http.module.js';
export { checkListenAddress, listenFailure } from './listen-address.js';
export { FileField, MultipartBody, UploadedFile } from './multipart.js';
export { UuidParam } from './params.js';
export { AddRouteConfig, isPublicRequest, isPublicRoute, PublicRoute } from './public-route.js';
export * from './query-fields.js';
export { EventStream, EventStreams, UNREAD_LIMIT } from './sse.js';
export { RequestValidation, validated } from './validation.js';
export { toWireError, type WireError } from './wire-error.js';
