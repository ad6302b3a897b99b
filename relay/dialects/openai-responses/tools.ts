import { type Fields, isObject } from '#relay/chat/json.ts'
import type { Tool, ToolChoice } from '#relay/chat/request.ts'
import { readToolChoice as readChatToolChoice, readWebSearch } from '../openai-chat/tools.ts'
import { type Reader, defined } from '../read.ts'

/** Tools stand flat here, without the object around a function that chat completions have. */
export function readTools(value: unknown, read: Reader): Tool[] {
  return (read.list(value, 'tools') ?? []).map((tool, index): Tool => {
    if (!isObject(tool)) throw read.invalid(`tools[${index}]`)
    const path = `tools[${index}]`
    const type = read.name(tool['type'], `${path}.type`)
    if (type === 'function') return readFunction(tool, path, read)
    if (type === 'custom') {
      return defined({
        type: 'custom',
        name: read.name(tool['name'], `${path}.name`),
        description: read.text(tool['description'], `${path}.description`),
        format: tool['format'],
      })
    }
    return type.startsWith('web_search')
      ? readWebSearch(tool)
      : { type: 'vendor', dialect: 'openai-responses', value: tool }
  })
}

const readFunction = (tool: Fields, path: string, read: Reader): Tool =>
  defined({
    type: 'function',
    name: read.name(tool['name'], `${path}.name`),
    description: read.text(tool['description'], `${path}.description`),
    parameters: read.object(tool['parameters'], `${path}.parameters`),
    strict: read.flag(tool['strict'], `${path}.strict`),
  })

/** A choice of a tool that only the vendor runs has no name and is lost. */
export function readToolChoice(body: Fields, read: Reader): { toolChoice?: ToolChoice | undefined; losses: string[] } {
  const choice = body['tool_choice']
  const isHosted = isObject(choice) && choice['type'] !== 'allowed_tools' && choice['name'] === undefined
  if (isHosted) return { losses: ['tool_choice'] }
  return { toolChoice: readChatToolChoice({ tool_choice: choice }, read), losses: [] }
}
