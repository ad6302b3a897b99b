import type { NameRule } from '#relay/chat/fit/profile.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { fillReasoning, fillThinking } from '../fill-reasoning.ts'
import { fitForcedTool, offerNamedTool } from '../forced-tool.ts'
import { fitToolSchemas } from '../kimi-schema.ts'
import { effortOf } from '../request.ts'
import { disableThinking, thinkingType } from '../thinking-switch.ts'
import { type Json, recordOf, wordOf } from '../../shared/json.ts'

/** Models of today, which the vendor's coding plan names without the maker: https://platform.kimi.ai/docs/api/models-overview */
const newer = /^(kimi-)?k(2\.[5-9]|[3-9])|^kimi-for-coding/
/** Of these the ones that always think, as much as they are asked to. */
const byEffort = /^(kimi-)?k[3-9]/
/** And the ones that can be asked not to think. */
const switchable = /^(kimi-)?k2\.[5-9](?!.*code)/

/** Models that think unless they are asked not to, whether or not they can be. */
const thinks = /^(kimi-)?k(2\.[5-9]|[3-9])|^kimi-(for-coding|k2-thinking)/

/**
 * "thinking is enabled but reasoning_content is missing in assistant tool call message": https://github.com/continuedev/continue/issues/11600,
 * and in its form of messages: https://github.com/farion1231/cc-switch/issues/3351.
 */
const fill = fillReasoning(thinks)
const fillBlocks = fillThinking(thinks)

/** What newer models have fixed; another value is refused: "invalid temperature: only 1 is allowed for this model". */
const fixed: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 0.95,
  n: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
}

function dropFixed(body: Json): string[] {
  const given = Object.keys(fixed).filter((name) => body[name] !== undefined)
  const lost = given.filter((name) => body[name] !== null && body[name] !== fixed[name])
  for (const name of given) delete body[name]
  return lost
}

/** https://platform.kimi.ai/docs/guide/use-thinking-effort: three words, of which none is for no thinking. */
const words: Readonly<Record<string, string>> = { none: 'low', minimal: 'low', medium: 'high', xhigh: 'max' }

/** The effort in the words of the model, or as its switch; "cannot specify both 'thinking' and 'reasoning_effort'". */
function adjustThinking(body: Json): string[] {
  const model = String(body['model'])
  const effort = wordOf(body['reasoning_effort'])
  const isOff = recordOf(body['thinking'])?.['type'] === 'disabled'
  if (switchable.test(model)) {
    if (effort === undefined) return []
    delete body['reasoning_effort']
    body['thinking'] ??= { type: effort === 'none' ? 'disabled' : 'enabled' }
    return []
  }
  // These always think, and refuse a call that asks them not to.
  if (isOff) delete body['thinking']
  const lost = isOff ? ['thinking'] : []
  if (effort === undefined || !byEffort.test(model)) return lost
  body['reasoning_effort'] = words[effort] ?? effort
  return effort === 'none' ? [...lost, 'reasoning_effort'] : lost
}

/**
 * "tool_choice 'required' is incompatible with thinking enabled", of the third generation 'specified' alone:
 * https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152, https://github.com/can1357/oh-my-pi/pull/5994.
 */
function fitChoice(body: Json): string[] {
  const model = String(body['model'])
  const mode = recordOf(body['thinking'])?.['type']
  if (mode === 'disabled' || !thinks.test(model)) return []
  if (!byEffort.test(model))
    return fitForcedTool(body, true, mode === undefined && switchable.test(model) ? disableThinking : undefined)
  offerNamedTool(body)
  return []
}

function adjust(body: Json): string[] {
  const lost = newer.test(String(body['model'])) ? [...adjustThinking(body), ...dropFixed(body)] : []
  lost.push(...fitChoice(body))
  fitToolSchemas(body)
  fill(body)
  return lost
}

/** "invalid thinking: only type=enabled is allowed for this model": https://github.com/MoonshotAI/Kimi-K2/issues/141. */
function adjustMessages(body: Json): string[] {
  const model = String(body['model'])
  const isRefused = recordOf(body['thinking'])?.['type'] === 'disabled' && newer.test(model) && !switchable.test(model)
  if (isRefused) delete body['thinking']
  const lost = [...(isRefused ? ['thinking'] : []), ...fitChoice(body)]
  fitToolSchemas(body)
  fillBlocks(body)
  return lost
}

const switchThinking = thinkingType(newer)

function reasoning(body: Json, request: ChatRequest): void {
  if (!byEffort.test(String(body['model']))) return switchThinking(body, request)
  const effort = effortOf(request)
  if (effort !== undefined) body['reasoning_effort'] = effort
}

/** "function name is invalid, must start with a letter": https://github.com/MoonshotAI/kimi-cli/issues/2531, MoonshotAI/kimi-cli#1773. */
const toolName: NameRule = { longest: 64, pattern: /^[a-zA-Z][a-zA-Z0-9_-]*$/ }

export const moonshot = openAiCompatible({
  id: 'moonshot',
  label: 'Moonshot',
  channelTypes: [25],
  ignoresSearches: true,
  profile: { toolName },
  messagesUrl: ({ channel }) =>
    // The coding plan has both dialects right below its own path.
    channel.baseUrl.includes('/coding')
      ? joinPath(channel.baseUrl, '/v1', '/messages')
      : `${channel.baseUrl.replace(/(\/anthropic)?(\/v1)?$/, '')}/anthropic/v1/messages`,
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  carriesReasoning: 'content',
  reasoning,
  adjust,
  adjustMessages,
})
