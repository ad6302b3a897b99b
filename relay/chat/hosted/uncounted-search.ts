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
