import { fitUser } from '#relay/chat/fit/names.ts'
import type { NameRule } from '#relay/chat/fit/profile.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import { effortOf } from '../request.ts'
import { renderFormat } from '../format-instruction.ts'
import { thinkingType } from '../thinking-switch.ts'
import { type Json, recordOf, wordOf } from '../../shared/json.ts'

const switchThinking = thinkingType(/v[4-9]|flash/)

function reasoning(body: Json, request: ChatRequest): void {
  switchThinking(body, request)
  const effort = request.reasoning && effortOf(request.reasoning, request.extra.dialect)
  if (effort !== undefined && effort !== 'none') body['reasoning_effort'] = effort === 'minimal' ? 'low' : effort
}

/** A schema cannot be enforced here, only described; an object can. */
/** https://api-docs.deepseek.com/api/create-chat-completion, `user_id`: [a-zA-Z0-9\-_]+, at most 512 characters. */
const userRule: NameRule = { longest: 512, pattern: /^[a-zA-Z0-9_-]+$/ }

function adjust(body: Json): string[] {
  const user = wordOf(body['user_id'])
  if (user !== undefined) body['user_id'] = fitUser(user, userRule)
  if (recordOf(body['response_format'])?.['type'] !== 'json_schema') return []
  renderFormat(body)
  body['response_format'] = { type: 'json_object' }
  return ['response_format.json_schema']
}

export const deepseek = openAiCompatible({
  id: 'deepseek',
  label: 'DeepSeek',
  channelTypes: [43],
  messagesUrl: messagesBelow(/(\/anthropic)?(\/(v1|beta))?$/, '/anthropic/v1/messages'),
  profile: { user: userRule },
  userField: 'user_id',
  carriesReasoning: 'content',
  plainText: true,
  reasoning,
  adjust,
  completionsUrl: ({ channel }) => joinPath(channel.baseUrl.replace(/\/(v1|beta)$/, ''), '', '/beta/completions'),
  modelsUrl: (channel) => joinPath(channel.baseUrl, '', '/models'),
})
