import type { Effort } from '#core/models/parameters.ts'
import { type Json, recordOf, recordsOf } from '../shared/json.ts'
import type { ResponsesReason } from './style.ts'

const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

type Version = { series: 'o' | 'gpt'; major: number; minor: number }

function versionOf(model: string): Version | undefined {
  const o = /^o(\d+)/.exec(model)
  if (o) return { series: 'o', major: Number(o[1]), minor: 0 }
  const gpt = /^gpt-(\d+)(?:\.(\d+))?(?=-|$)/.exec(model)
  return gpt ? { series: 'gpt', major: Number(gpt[1]), minor: Number(gpt[2] ?? 0) } : undefined
}

/** Models that think before they answer. Names with a vendor's prefix or a fine-tune's keep plain treatment. */
export function isReasoningModel(model: string): boolean {
  const version = versionOf(model)
  if (!version) return false
  if (version.series === 'o') return true
  return version.major >= 5 && !/^gpt-\d+-chat/.test(model)
}

/** "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16": the vendor's answer to less. */
export const leastOutput = 16

const knowsOnlyUsers = (model: string): boolean => /^o1-(mini|preview)/.test(model)

/** The role instructions are given under. */
export function systemRoleOf(model: string): 'system' | 'developer' | 'user' {
  if (knowsOnlyUsers(model)) return 'user'
  return isReasoningModel(model) ? 'developer' : 'system'
}

/** The efforts a model knows in a form of the vendor's calls: some know the highest in the responses form only. */
export function effortsOf(model: string, form: 'chat' | 'responses' = 'chat'): readonly Effort[] {
  const version = versionOf(model)
  if (!version || version.series === 'o') return ['low', 'medium', 'high']
  if (version.major === 5 && version.minor === 0) return ['minimal', 'low', 'medium', 'high']
  if (version.major === 5 && version.minor === 1) return ['none', 'low', 'medium', 'high']
  if (version.major === 5 && version.minor < 6) return ['none', 'low', 'medium', 'high', 'xhigh']
  const withoutNone = /^gpt-6(\.\d+)?-astra|^gpt-6\.[1-9]\d*-sol/.test(model)
  if (!withoutNone) return ['none', 'low', 'medium', 'high', 'xhigh', 'max']
  return form === 'responses' ? ['low', 'medium', 'high', 'xhigh', 'max'] : ['low', 'medium', 'high', 'xhigh']
}

/** The nearest effort a model knows, the smaller one where two are as near. */
export function clampEffort(wanted: Effort, allowed: readonly Effort[]): Effort | undefined {
  const rank = efforts.indexOf(wanted)
  const distance = (effort: Effort): number => Math.abs(efforts.indexOf(effort) - rank)
  return allowed.toSorted((a, b) => distance(a) - distance(b) || efforts.indexOf(a) - efforts.indexOf(b))[0]
}

const responsesOnly =
  /^(o1-pro|o3-pro|gpt-5(\.\d+)?-pro|o\d[^/]*-deep-research|computer-use-preview|codex-mini-latest|gpt-5(\.\d+)?-codex)/

/**
 * Models that search in the responses form and not in the chat form, where those made for it do:
 * https://developers.openai.com/api/docs/guides/tools-web-search#limitations.
 */
const searchesInResponses =
  /^(gpt-4o(-mini)?|gpt-4\.1(-mini)?|o3|o4-mini|gpt-5(\.\d+)?(-mini|-nano)?)(-\d{4}-\d{2}-\d{2})?$/

/** Models that the vendor serves in the responses form only, and calls of others that the chat form refuses. */
export function refusesChat({ model, tools, search, effort }: ResponsesReason): boolean {
  if (responsesOnly.test(model) || (search && searchesInResponses.test(model))) return true
  const version = versionOf(model)
  const newer =
    version?.series === 'gpt' &&
    isReasoningModel(model) &&
    (version.major > 5 || (version.major === 5 && version.minor >= 4))
  const isOff = effort === 'none' && effortsOf(model).includes('none')
  return newer && ((tools && !isOff) || search || effort === 'max')
}

const effortSuffix = /-(none|minimal|low|medium|high|xhigh|max)$/

/** `o3-mini-high` → `o3-mini` with effort high. A real name that ends so, of those `known`, stays whole. */
export function splitEffort(model: string, known: readonly string[]): { model: string; effort?: string | undefined } {
  const suffix = effortSuffix.exec(model)
  if (!suffix || !isReasoningModel(model) || known.includes(model)) return { model }
  return { model: model.slice(0, suffix.index), effort: suffix[1] }
}

export const isSearchModel = (model: string): boolean => /-search(-|$)/.test(model) && model.startsWith('gpt-')

export const takesSamplingWithoutThinking = (model: string): boolean => {
  const version = versionOf(model)
  return version?.series === 'gpt' && version.major === 5 && version.minor >= 1
}

/**
 * "Not supported with latest reasoning models `o3` and `o4-mini`": https://platform.openai.com/docs/api-reference/chat/create,
 * field `stop`. The fifth generation answers "Unsupported parameter: 'stop' is not supported with this model."
 */
function refusesStop(model: string): boolean {
  const version = versionOf(model)
  if (version?.series === 'o') return version.major >= 3 && !model.startsWith('o3-mini')
  return isReasoningModel(model)
}

function fieldsRefused(model: string, effort: unknown): readonly string[] {
  if (isSearchModel(model)) {
    return ['temperature', 'top_p', 'n', 'frequency_penalty', 'presence_penalty', 'seed', 'tools', 'tool_choice']
  }
  if (!isReasoningModel(model)) return []
  const always = ['frequency_penalty', 'presence_penalty', 'logit_bias', ...(refusesStop(model) ? ['stop'] : [])]
  const sampling = ['temperature', 'top_p', 'logprobs', 'top_logprobs']
  return effort === 'none' && takesSamplingWithoutThinking(model) ? always : [...sampling, ...always]
}

/** Later families take `system` for `developer`, so only the o-series is worth writing a conversation anew. */
function renameSystem(messages: unknown, model: string): unknown {
  if (!/^o\d/.test(model) || !Array.isArray(messages)) return messages
  if (!recordsOf(messages).some((message) => message['role'] === 'system')) return messages
  const role = systemRoleOf(model)
  return messages.map((message: unknown) => {
    const record = recordOf(message)
    return record?.['role'] === 'system' ? { ...record, role } : message
  })
}

/** Brings a body to what its model's family accepts and returns the names of the fields it had to drop. */
export function applyFamilyRules(body: Json, known: readonly string[]): string[] {
  const named = String(body['model'])
  const { model, effort } = splitEffort(named, known)
  if (model !== named) body['model'] = model
  if (effort !== undefined) body['reasoning_effort'] = effort
  if (isReasoningModel(model) && body['max_tokens'] !== undefined) {
    if (!body['max_completion_tokens']) body['max_completion_tokens'] = body['max_tokens']
    delete body['max_tokens']
  }
  if (body['messages'] !== undefined) body['messages'] = renameSystem(body['messages'], model)
  const dropped = fieldsRefused(model, body['reasoning_effort']).filter((name) => Object.hasOwn(body, name))
  for (const name of dropped) delete body[name]
  return dropped
}
