import type { NativeDialect, ProviderCall } from '../types.ts'
import type { Json } from '../shared/json.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { requestHeaders } from './address.ts'
import { nativeOpenAi, setStreamOptions } from './native.ts'
import type { OpenAiStyle } from './style.ts'

const completes = /instruct|^(davinci|babbage|curie|ada)-|^text-(davinci|curie|babbage|ada)|^code-|[-_](base|fim)$/

const isPlural = (prompt: unknown): boolean =>
  Array.isArray(prompt) && (prompt.length > 1 || typeof prompt[0] !== 'string')

/** What chat models can answer goes to them; what only a completion can say, or a model made for it, stays one. */
const wantsCompletion = (body: Record<string, unknown>, { model }: ProviderCall): boolean =>
  completes.test(model) ||
  isPlural(body['prompt']) ||
  body['echo'] === true ||
  (typeof body['suffix'] === 'string' && body['suffix'] !== '') ||
  (typeof body['best_of'] === 'number' && body['best_of'] > 1) ||
  typeof body['logprobs'] === 'number'

/** Legacy completions of a vendor that still has them. */
export const nativeCompletions = (style: OpenAiStyle, urlOf: (call: ProviderCall) => string): NativeDialect => ({
  ...nativeOpenAi(style),
  accepts: wantsCompletion,
  request: (native, call) => {
    const body: Json = { ...native.json, model: call.model }
    if ((body['stream'] === true) !== call.stream) body['stream'] = call.stream
    setStreamOptions(body, style, call)
    return { method: 'POST', url: urlOf(call), headers: requestHeaders(style, call), body: rewriteBody(native, body) }
  },
})
