import { isObject } from '../json.ts'

const objectsIn = (list: unknown): Record<string, unknown>[] => (Array.isArray(list) ? list.filter(isObject) : [])

const isSwitchedOn = (value: unknown): boolean => isObject(value) && (value['enable'] ?? value['enabled']) !== false

/**
 * Whether a body of the chat form has its vendor search the web: OpenRouter's `plugins`, Alibaba's `enable_search`, Baidu's
 * `web_search`, the tools of Zhipu and others, `web_search_options`. All charge for it, and few count it in their answer.
 */
export function asksForSearch(body: Record<string, unknown>): boolean {
  return (
    body['enable_search'] === true ||
    isObject(body['web_search_options']) ||
    (isObject(body['web_search']) && isSwitchedOn(body['web_search'])) ||
    objectsIn(body['plugins']).some((plugin) => plugin['id'] === 'web' && isSwitchedOn(plugin)) ||
    objectsIn(body['tools']).some(
      ({ type, web_search: search }) =>
        typeof type === 'string' &&
        /^(openrouter:)?web_search/.test(type) &&
        (search === undefined || isSwitchedOn(search)),
    )
  )
}

/** The beginning of an answer, for the model to go on from. */
const isBegun = ({ partial, tool_calls: calls }: Record<string, unknown>): boolean =>
  partial === true && objectsIn(calls).length === 0

/**
 * The results of Moonshot's `$web_search` that a body hands back with no answer to them yet: its callers return them as they came,
 * and the vendor charges for each, though no usage counts them.
 */
export function searchesHandedBack(body: Record<string, unknown>): number {
  const messages = objectsIn(body['messages'])
  const last = messages.findLastIndex((message) => message['role'] === 'assistant' && !isBegun(message))
  if (!messages.slice(last + 1).some(({ role }) => role === 'tool')) return 0
  return objectsIn(messages[last]?.['tool_calls']).filter(
    ({ function: fn }) => isObject(fn) && fn['name'] === '$web_search',
  ).length
}

/** How often a vendor searches for what stands in a body, though its answers may say nothing of it. */
export const uncountedSearches = (body: Record<string, unknown>): number =>
  searchesHandedBack(body) + (asksForSearch(body) ? 1 : 0)
