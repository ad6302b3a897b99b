import type { Response } from 'express'
import { type DomainError, type ErrorCode, errorRow, errors, type Kind, kinds } from '#core/errors.ts'
import { renderMessage } from '#core/render-message.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { gemini } from '#relay/dialects/gemini/index.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { openAiResponses } from '#relay/dialects/openai-responses/index.ts'
import type { CallerError, ChatDialect } from '#relay/dialects/types.ts'
import { failureOfDomainError } from '#relay/attempt/failure.ts'
import { sendRefusal } from '#rest/envelope.ts'
import { codeOfKind } from '#trpc/procedure-errors.ts'
import { type Blocks, code, table } from './markdown.ts'

/** A refusal whose row fixes nothing but its kind. */
const bare = (kind: Kind) => ({ kind, code: 'internal', message: '', params: {} }) as unknown as DomainError

const relayStatus = (kind: Kind): number => failureOfDomainError(bare(kind)).status

function restStatus(kind: Kind): number {
  let sent = 0
  const answer = { json: () => {}, end: () => {} }
  const response = { status: (status: number) => ((sent = status), answer) } as unknown as Response
  sendRefusal(response, null, { error: bare(kind), language: 'en' })
  return sent
}

const kindRows = () =>
  kinds.map((kind) => [code(kind), String(relayStatus(kind)), String(restStatus(kind)), code(codeOfKind[kind])])

const errorOf = (status: number): CallerError => ({ status, type: '', code: null, message: 'why', requestId: 'id' })

type Body = { error: Record<string, unknown> }

function wordsFor(status: number): string[] {
  const openAi = openAiChat.error(errorOf(status))
  const claudes = claude.error(errorOf(status))
  const geminis = gemini.error(errorOf(status))
  const of = ({ body }: { body: unknown }) => (body as Body).error
  return [
    String(status),
    `${openAi.status} ${code(String(of(openAi)['type']))}, code ${of(openAi)['code'] === null ? 'null' : code(String(of(openAi)['code']))}`,
    `${claudes.status} ${code(String(of(claudes)['type']))}`,
    `${geminis.status} ${code(String(of(geminis)['status']))}`,
  ]
}

const statuses = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529]

const ambient = { now: () => new Date(0), newId: () => '…', random: () => 0 }

/** The events of a stream that only fails; those that open it are left out. */
const eventsOf = (dialect: ChatDialect, error: CallerError): string => {
  const text = dialect.streamError(error, { ambient, model: 'm' }).trim()
  return text.slice(Math.max(0, text.indexOf('event: error')))
}

/** One refusal of the gateway as the callers of each dialect read it. */
function wireForms(): string {
  const refused = { ...failureOfDomainError(bare('rate_limited')), code: 'rate_limit_exceeded', message: 'why' }
  const error: CallerError = { ...refused, requestId: 'id' }
  return [openAiChat, openAiResponses, claude, gemini]
    .map(
      (dialect) =>
        `**${dialect.id}**\n\n\`\`\`\n${JSON.stringify(dialect.error(error).body)}\n\n${eventsOf(dialect, error)}\n\`\`\``,
    )
    .join('\n\n')
}

const codes = Object.keys(errors) as ErrorCode[]
const isRelay = (name: ErrorCode): boolean => /^(relay|unsupported|playground|drawing|music)\./.test(name)

const shown = (name: ErrorCode): string => renderMessage({ code: name }, 'en')

const relayRows = () =>
  codes.filter(isRelay).map((name) => {
    const { kind, status, wire = '' } = errorRow(name)
    return [code(name), kind, status === undefined ? 'the upstream’s' : String(status), code(wire), shown(name)]
  })

const consoleRows = () =>
  codes
    .filter((name) => !isRelay(name))
    .map((name) => {
      const { kind, status } = errorRow(name)
      return [code(name), kind, status === undefined ? '' : String(status), shown(name)]
    })

export const errorBlocks: Blocks = {
  kinds: () => table(['kind', 'relay', 'REST', 'tRPC'], kindRows()),
  statuses: () => table(['status', 'OpenAI', 'Anthropic', 'Google'], statuses.map(wordsFor)),
  'wire-forms': wireForms,
  relay: () => table(['code', 'kind', 'status', '`code` on the wire', 'says'], relayRows()),
  console: () => table(['code', 'kind', 'fixed status', 'says'], consoleRows()),
}
