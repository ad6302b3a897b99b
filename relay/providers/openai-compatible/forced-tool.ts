import { type Json, recordOf, recordsOf, withoutAbsent } from '../shared/json.ts'

/** What forces a tool to be called: in the chat form one word or a tool, in the messages form a type. */
const ofChat: ReadonlySet<unknown> = new Set(['function', 'custom'])
const ofMessages: ReadonlySet<unknown> = new Set(['any', 'tool'])

/**
 * For vendors whose models refuse to be forced to call a tool while they think. Who would only think unasked is asked not to
 * (`switchOff`), for the choice is what the caller asked for; else the choice becomes the model's own. Names what is given up.
 */
export function fitForcedTool(body: Json, thinks: boolean, switchOff?: (body: Json) => void): string[] {
  const choice = body['tool_choice']
  const type = recordOf(choice)?.['type']
  if (!thinks || !(choice === 'required' || ofChat.has(type) || ofMessages.has(type))) return []
  if (switchOff) {
    switchOff(body)
    return ['thinking']
  }
  body['tool_choice'] = ofMessages.has(type)
    ? withoutAbsent({ ...recordOf(choice), type: 'auto', name: undefined })
    : 'auto'
  return ['tool_choice']
}

const nameOf = (value: Json): unknown => recordOf(value['function'])?.['name'] ?? value['name']

/** For models that can be forced to call some tool while they think, but none by its name: the one is all that is offered. */
export function offerNamedTool(body: Json): void {
  const choice = recordOf(body['tool_choice'])
  const type = choice?.['type']
  if (!choice || (type !== 'function' && type !== 'tool')) return
  const named = recordsOf(body['tools']).filter((tool) => nameOf(tool) === nameOf(choice))
  if (named.length === 0) return
  body['tools'] = named
  body['tool_choice'] = type === 'tool' ? withoutAbsent({ ...choice, type: 'any', name: undefined }) : 'required'
}
