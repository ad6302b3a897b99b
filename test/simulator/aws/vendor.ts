import type { Failure } from '../prompt.ts'
import type { Vendor } from '../types.ts'
import { exceptionEvent } from './frames.ts'
import { verifyV4 } from './signature.ts'

const types: Record<number, string> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

const typeOf = ({ type, status }: Failure) => type ?? types[status] ?? 'InternalServerException'

export const bedrock: Vendor = {
  id: 'bedrock',
  keyOf: ({ headers }) =>
    /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ??
    /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 403, message: 'Missing Authentication Token', type: 'MissingAuthenticationTokenException' },
  badKey: {
    status: 403,
    message: 'The security token included in the request is invalid.',
    type: 'UnrecognizedClientException',
  },
  verify: (arrival) => verifyV4(arrival, 'bedrock'),
  error: (failure) => ({
    body: { message: failure.message, __type: typeOf(failure) },
    headers: { 'x-amzn-errortype': typeOf(failure) },
  }),
  streamError: (failure) => {
    const name = typeOf(failure)
    const type = name.charAt(0).toLowerCase() + name.slice(1)
    return { event: exceptionEvent, data: JSON.stringify({ type, message: failure.message }) }
  },
}
