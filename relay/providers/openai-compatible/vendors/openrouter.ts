import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { type Json, recordOf, withoutAbsent } from '../../shared/json.ts'
import type { ReasoningInput } from '#relay/chat/request.ts'

function reasoningOf(input: ReasoningInput): Json | undefined {
  if (input.mode === 'disabled' || input.effort === 'none' || input.budgetTokens === 0) return { effort: 'none' }
  const budget = input.budgetTokens !== undefined && input.budgetTokens > 0 ? input.budgetTokens : undefined
  if (budget !== undefined) return { max_tokens: budget }
  if (input.effort !== undefined) return { effort: input.effort }
  return input.mode === undefined ? undefined : { enabled: true }
}

/**
 * Makers whose models think when they are asked to. Others have models that are called so (`moonshotai/kimi-k2-thinking`,
 * `qwen/qwen3-next-80b-a3b-thinking`, `arcee-ai/trinity-large-thinking`), whose names without it are other models: https://openrouter.ai/models.
 */
const ownSuffix = /^(anthropic|deepseek|google|openai|x-ai|z-ai)\/.*-thinking$/

/** The suffix and the caller's effort become fields of `reasoning`, the one place this upstream reads them from. */
function adjust(body: Json): void {
  const model = String(body['model'])
  const given = recordOf(body['reasoning'])
  if (ownSuffix.test(model)) {
    body['model'] = model.slice(0, -'-thinking'.length)
    body['reasoning'] = { ...given, enabled: true }
  }
  const { reasoning_effort: effort } = body
  if (effort === undefined || given?.['effort'] !== undefined) return
  delete body['reasoning_effort']
  body['reasoning'] = { ...recordOf(body['reasoning']), effort }
}

export const openrouter = openAiCompatible({
  id: 'openrouter',
  label: 'OpenRouter',
  channelTypes: [20],
  ownSuffix,
  messagesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/messages'),
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  partialResponses: () => true,
  chatHeaders: ({ site }) =>
    (site ? withoutAbsent({ 'http-referer': site.url, 'x-title': site.name }) : {}) as Record<string, string>,
  carriesReasoning: 'details',
  carriesCacheControl: true,
  takesTopK: true,
  draws: true,
  reasoning: (body, request) => {
    const reasoning = request.reasoning && reasoningOf(request.reasoning)
    if (reasoning && body['reasoning'] === undefined) body['reasoning'] = reasoning
  },
  adjust,
})
