import { expect, test } from 'vitest'
import { dialects } from '#relay/dialects/registry.ts'
import { type Subject, subjects } from './conformance/subjects.ts'

type Body = Record<string, unknown>
type Caller = keyof typeof dialects

const message: Body = { max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }
const response: Body = { input: 'hi' }
const generate: Body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const search = { type: 'web_search_20250305', name: 'web_search' }
const place = { city: 'Bonn' }
const toSites = ['a.test', 'b.test']

test.each<[caller: Caller, body: Body, target: string, model: string, search: unknown, losses: string[]]>([
  [
    'claude',
    { ...message, tools: [{ ...search, allowed_domains: toSites, user_location: { type: 'approximate', ...place } }] },
    'openai',
    'gpt-5',
    { type: 'web_search', filters: { allowed_domains: toSites }, user_location: { type: 'approximate', ...place } },
    [],
  ],
  [
    'claude',
    { ...message, tools: [{ ...search, allowed_domains: ['a.test/docs', 'a.test/more'] }] },
    'openai',
    'gpt-5',
    { type: 'web_search', filters: { allowed_domains: ['a.test'] } },
    ['allowed_domains'],
  ],
  [
    'claude',
    { ...message, tools: [{ ...search, allowed_domains: toSites, user_location: place }] },
    'openai',
    'gpt-4o-search-preview',
    { user_location: { type: 'approximate', approximate: place } },
    ['allowed_domains'],
  ],
  [
    'claude',
    { ...message, tools: [{ ...search, blocked_domains: toSites, user_location: place }] },
    'gemini',
    'gemini-2.5-pro',
    { googleSearch: {} },
    ['blocked_domains', 'user_location'],
  ],
  [
    'openai-responses',
    { ...response, tools: [{ type: 'web_search', filters: { allowed_domains: toSites } }] },
    'anthropic',
    'claude-sonnet-4-5',
    { type: 'web_search_20250305', name: 'web_search', allowed_domains: toSites },
    [],
  ],
  [
    'gemini',
    { ...generate, tools: [{ googleSearch: { excludeDomains: toSites } }] },
    'anthropic',
    'claude-sonnet-4-5',
    { type: 'web_search_20250305', name: 'web_search', blocked_domains: toSites },
    [],
  ],
  [
    'claude',
    { ...message, tools: [{ ...search, blocked_domains: toSites }] },
    'perplexity',
    'sonar',
    { search_domain_filter: ['-a.test', '-b.test'] },
    [],
  ],
])('the sites and the place of a search of %s, %j, reach %s %s', (caller, body, target, model, wanted, losses) => {
  const { provider, call } = subjects.find(({ name }) => name === target) as Subject
  const request = dialects[caller].parse({ ...body, model }, { model })
  const { channel, ...rest } = call()
  const baseUrl = target === 'openai' ? 'https://api.openai.com' : channel.baseUrl
  const written = provider.chat.request(request, { ...rest, channel: { ...channel, baseUrl }, model })
  const { tools, web_search_options, search_domain_filter } = written.body as Body
  const asked = search_domain_filter ? { search_domain_filter } : ((tools as unknown[])?.[0] ?? web_search_options)
  expect(asked).toMatchObject(wanted as object)
  expect(written.losses).toEqual(expect.arrayContaining(losses))
  const named = (written.losses ?? []).filter((name) => /domain|location|filters/.test(name))
  expect(named.toSorted()).toEqual(losses.toSorted())
})
