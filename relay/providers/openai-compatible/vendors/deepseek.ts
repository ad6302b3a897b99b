import { fitUser } from '#relay/chat/fit/names.ts'
import type { NameRule } from '#relay/chat/fit/profile.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import { effortOf } from '../request.ts'
import { renderFormat } from '../format-instruction.ts'
import { fillReasoning, fillThinking } from '../fill-reasoning.ts'
import { fitForcedTool } from '../forced-tool.ts'
import { disableThinking, thinkingType } from '../thinking-switch.ts'
import { textOnly } from '../../shared/text-only.ts'
import { type Json, recordOf, wordOf } from '../../shared/json.ts'

const thinks = /v[4-9]|flash/
const switchThinking = thinkingType(thinks)

function reasoning(body: Json, request: ChatRequest): void {
  switchThinking(body, request)
  const effort = effortOf(request)
  if (effort !== undefined && effort !== 'none') body['reasoning_effort'] = effort === 'minimal' ? 'low' : effort
}

/** https://api-docs.deepseek.com/api/create-chat-completion, `user_id`: [a-zA-Z0-9\-_]+, at most 512 characters. */
const userRule: NameRule = { longest: 512, pattern: /^[a-zA-Z0-9_-]+$/ }

/**
 * "The `reasoning_content` in the thinking mode must be passed back to the API.": https://api-docs.deepseek.com/guides/thinking_mode;
 * https://github.com/NousResearch/hermes-agent/pull/18263. "The `content[].thinking` in the thinking mode must be passed back to the
 * API." in its other form: https://github.com/QwenLM/qwen-code/pull/3788.
 */
const fill = fillReasoning(thinks)
const fillBlocks = fillThinking(thinks)

/** https://api-docs.deepseek.com/guides/vision: the newest Flash sees, and answers for the older ones; Pro reads text only. */
const sees = /flash|vision/
const images: ReadonlySet<unknown> = new Set(['image_url', 'image'])

/**
 * Of the others, "unknown variant `image_url`, expected `text`": https://github.com/1jehuang/jcode/issues/310, and of its other form
 * "unknown variant `image`": https://github.com/deepseek-ai/DeepSeek-V3/issues/1026, https://api-docs.deepseek.com/guides/anthropic_api.
 */
function leaveOutOthers(body: Json): string[] {
  const plain = textOnly(body['messages'], sees.test(String(body['model'])) ? images : undefined)
  if (plain) body['messages'] = plain.messages
  return plain?.losses ?? []
}

/** "Thinking mode does not support this tool_choice": https://github.com/deepseek-ai/DeepSeek-V3/issues/1376, in both forms. */
function fitChoice(body: Json, effort: string | undefined): string[] {
  const mode = recordOf(body['thinking'])?.['type'] ?? (effort === 'none' ? 'disabled' : effort && 'enabled')
  if (mode === undefined) return fitForcedTool(body, thinks.test(String(body['model'])), disableThinking)
  return fitForcedTool(body, mode !== 'disabled')
}

/**
 * "thinking options type cannot be disabled when reasoning_effort is set", which Claude Code's subagents do:
 * https://github.com/deepseek-ai/DeepSeek-V3/issues/1397.
 */
function dropEffort(body: Json): string[] {
  const { effort, ...others } = recordOf(body['output_config']) ?? {}
  if (effort === undefined || recordOf(body['thinking'])?.['type'] !== 'disabled') return []
  body['output_config'] = others
  return ['reasoning_effort']
}

function adjustMessages(body: Json): string[] {
  // An effort alone does not ask to think in this dialect.
  const losses = [...leaveOutOthers(body), ...fitChoice(body, undefined), ...dropEffort(body)]
  fillBlocks(body)
  return losses
}

/** A schema cannot be enforced here, only described; an object can. */
function adjust(body: Json): string[] {
  const losses = [...leaveOutOthers(body), ...fitChoice(body, wordOf(body['reasoning_effort']))]
  fill(body)
  const user = wordOf(body['user_id'])
  if (user !== undefined) body['user_id'] = fitUser(user, userRule)
  if (recordOf(body['response_format'])?.['type'] !== 'json_schema') return losses
  renderFormat(body)
  body['response_format'] = { type: 'json_object' }
  return [...losses, 'response_format.json_schema']
}

export const deepseek = openAiCompatible({
  id: 'deepseek',
  label: 'DeepSeek',
  channelTypes: [43],
  ignoresSearches: true,
  messagesUrl: messagesBelow(/(\/anthropic)?(\/(v1|beta))?$/, '/anthropic/v1/messages'),
  profile: { user: userRule },
  userField: 'user_id',
  adjustMessages,
  carriesReasoning: 'content',
  plainText: true,
  reasoning,
  adjust,
  completionsUrl: ({ channel }) => joinPath(channel.baseUrl.replace(/\/(v1|beta)$/, ''), '', '/beta/completions'),
  modelsUrl: (channel) => joinPath(channel.baseUrl, '', '/models'),
})
