import type { ReportedUsage } from '#core/usage.ts'
import type { Citation } from '#relay/chat/events.ts'
import type { WebSearchTool } from '#relay/chat/request.ts'
import { joinPath } from '../../shared/join-path.ts'
import { countOf, type Json, listOf, numberOf, recordsOf, sumOf, textOf, wordOf } from '../../shared/json.ts'
import { joinContent } from '../../shared/join-content.ts'
import { isDefaultValue } from '../../shared/default-values.ts'
import { openAiCompatible } from '../index.ts'
import { perplexityEmbeddings } from './perplexity-embeddings.ts'
import { readUsage } from '../usage.ts'

/** https://docs.perplexity.ai/api-reference/chat-completions-post and https://docs.perplexity.ai/guides/search-control-guide */
const taken = new Set([
  'model',
  'messages',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stream',
  'presence_penalty',
  'frequency_penalty',
  'response_format',
  'search_mode',
  'search_domain_filter',
  'search_recency_filter',
  'search_after_date_filter',
  'search_before_date_filter',
  'last_updated_after_filter',
  'last_updated_before_filter',
  'search_language_filter',
  'disable_search',
  'enable_search_classifier',
  'language_preference',
  'return_images',
  'image_domain_filter',
  'image_format_filter',
  'return_related_questions',
  'web_search_options',
  'reasoning_effort',
])

/** Fields that go under another name, or are said of tools, whose loss says it all. */
const implied = new Set(['tool_choice', 'parallel_tool_calls', 'max_completion_tokens'])

type Turn = { role: string; content: unknown }

/** Instructions first, then user and assistant in turn, the user last; there are no tools, only what they said. */
function alternating(messages: unknown): Turn[] {
  const turns: Turn[] = []
  for (const message of recordsOf(messages)) {
    const role = textOf(message['role']) === 'tool' ? 'user' : (textOf(message['role']) ?? 'user')
    const content = message['content'] ?? ''
    if (content === '') continue
    const last = turns.at(-1)
    if (last?.role === role) last.content = joinContent(last.content, content)
    else turns.push({ role, content })
  }
  if (turns.at(-1)?.role !== 'user') turns.push({ role: 'user', content: 'Continue.' })
  return turns
}

const isAlternating = (messages: unknown): boolean => {
  const list = recordsOf(messages)
  const roles = list.map((message) => message['role'])
  const turns = roles[0] === 'system' ? roles.slice(1) : roles
  const inTurn = turns.every((role, index) => role === (index % 2 === 0 ? 'user' : 'assistant'))
  return inTurn && turns.length % 2 === 1 && list.every((message) => message['tool_calls'] === undefined)
}

function adjust(body: Json): string[] {
  body['max_tokens'] ??= body['max_completion_tokens']
  if (body['max_tokens'] === undefined) delete body['max_tokens']
  const left = Object.entries(body).filter(([name]) => !taken.has(name))
  for (const [name] of left) delete body[name]
  const topP = numberOf(body['top_p'])
  if (topP !== undefined && topP >= 1) body['top_p'] = 0.99
  if (!isAlternating(body['messages'])) body['messages'] = alternating(body['messages'])
  return left.flatMap(([name, value]) => (implied.has(name) || isDefaultValue(name, value) ? [] : [name]))
}

/** At most so many domains, and either a list to keep to or one to keep from: https://docs.perplexity.ai/guides/search-domain-filters. */
const mostDomains = 20

function searchDomains({ allowedDomains, blockedDomains }: WebSearchTool, losses: Set<string>): Json {
  const domains = allowedDomains ?? blockedDomains?.map((domain) => `-${domain}`)
  if (!domains) return {}
  if (domains.length <= mostDomains) losses.delete(allowedDomains ? 'allowed_domains' : 'blocked_domains')
  return { search_domain_filter: domains.slice(0, mostDomains) }
}

/** Reasoning is counted beside the answer here. */
function usage(counts: Json): ReportedUsage {
  const reasoning = countOf(counts['reasoning_tokens'])
  return {
    ...readUsage(counts),
    completionTokens: sumOf(countOf(counts['completion_tokens']), reasoning),
    reasoningTokens: reasoning,
    webSearchCalls: countOf(counts['num_search_queries']),
  }
}

function citations(answer: Json): Citation[] {
  const found = recordsOf(answer['search_results']).flatMap((result): Citation[] => {
    const url = wordOf(result['url'])
    return url === undefined ? [] : [{ url, title: wordOf(result['title']), citedText: wordOf(result['snippet']) }]
  })
  if (found.length > 0) return found
  return listOf(answer['citations']).flatMap((url) => (typeof url === 'string' && url !== '' ? [{ url }] : []))
}

export const perplexity = openAiCompatible({
  id: 'perplexity',
  label: 'Perplexity',
  channelTypes: [27],
  url: ({ channel }) => joinPath(channel.baseUrl, '', '/chat/completions'),
  streamUsage: false,
  adjust,
  usage,
  citations,
  searchDomains,
  plain: { embeddings: perplexityEmbeddings },
  // Callers are sent the whole output and the sources, so the answer cannot go through as it came.
  translatesAlways: true,
})
