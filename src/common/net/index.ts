export {
  AddressRefusedError,
  HostNotFoundError,
  isAllowedHost,
  resolveGuarded,
  type AddressRules,
  type HostAddress,
  type ResolveHost,
} from './address-guard.js';
export {
  guardedFetch,
  RequestTimeoutError,
  ResponseTooLargeError,
  type GuardedRequest,
  type GuardedResponse,
} from './guarded-fetch.js';
export { isPublicAddress } from './public-address.js';
