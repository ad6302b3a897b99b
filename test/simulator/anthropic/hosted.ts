import { refuse, type Json } from '../prompt.ts'
import type { Call, ChatOperation } from '../types.ts'
import { checkBetas } from '../strict/anthropic.ts'
import { messages } from './messages.ts'

/** A host that serves the vendor's models at its own addresses. */
export type MessagesHost = {
  /** What the body's `anthropic_version` must say. */
  versions: string[]
  modelOf: (path: string) => string
  isModel: (id: string) => boolean
  /** Whether the path asks for a stream; undefined: the body does. */
  streams: (path: string) => boolean | undefined
}

function checkBody({ body, path }: Call, host: MessagesHost): void {
  if (!host.versions.includes(String(body['anthropic_version']))) refuse('anthropic_version: Field required')
  if (body['model'] !== undefined) refuse('model: Extra inputs are not permitted')
  if (host.streams(path) !== undefined && body['stream'] !== undefined) refuse('stream: Extra inputs are not permitted')
  if (body['anthropic_beta'] !== undefined && !Array.isArray(body['anthropic_beta']))
    refuse('anthropic_beta: Input should be a valid list')
  if (!host.isModel(host.modelOf(path))) refuse('The provided model identifier is invalid.')
}

/** The messages dialect where the path names the model and the body the version. */
export function hostedMessages(host: MessagesHost): ChatOperation {
  const asMessages = (call: Call): Call => {
    const { anthropic_version: _, anthropic_beta: __, ...body } = call.body
    const stream = host.streams(call.path) ?? body['stream']
    const own: Json = { ...body, model: host.modelOf(call.path), stream }
    return { ...call, headers: { ...call.headers, 'anthropic-version': '2023-06-01' }, body: own, isHosted: true }
  }
  return {
    type: 'chat',
    read: (call) => {
      checkBody(call, host)
      const betas = [call.body['anthropic_beta'] ?? [], String(call.headers['anthropic-beta'] ?? '').split(',')].flat()
      checkBetas(betas.map(String))
      return messages.read(asMessages(call))
    },
    write: (prompt, answer, call) => messages.write(prompt, answer, asMessages(call)),
  }
}
