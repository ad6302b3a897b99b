import { asList, asObject, asTexts, type Schema } from './prompt.ts'

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A text for a field: what the prompt assigns to its name, else the prompt's last capitalised word, else the prompt. */
function sampleText(name: string, prompt: string): string {
  const assigned = new RegExp(`\\b${escape(name)}\\s*(?:[:=]|is)\\s*"?([^\\s",;]+)`, 'i').exec(prompt)
  if (assigned?.[1]) return assigned[1]
  const proper = prompt.match(/(?<=\s)\p{Lu}[\p{L}-]+/gu)
  return proper?.at(-1) ?? prompt.slice(0, 60)
}

const sampleNumber = (name: string, prompt: string) =>
  Number(
    new RegExp(`\\b${escape(name)}\\s*(?:[:=]|is)\\s*(-?\\d+)`, 'i').exec(prompt)?.[1] ?? /\d+/.exec(prompt)?.[0] ?? 1,
  )

function typeOf(schema: Schema): string {
  const type = asTexts(schema['type']).find((each) => each.toLowerCase() !== 'null')
  return type?.toLowerCase() ?? (schema['properties'] ? 'object' : 'string')
}

/** A plausible value for a JSON schema, its texts taken from the prompt. Deterministic. */
export function sampleValue(schema: Schema, prompt: string, name = ''): unknown {
  if (schema['const'] !== undefined) return schema['const']
  const choices = asList(schema['enum'])
  if (choices.length > 0)
    return choices.find((choice) => typeof choice === 'string' && prompt.includes(choice)) ?? choices[0]
  const variants = asList(schema['anyOf'] ?? schema['oneOf'])
  if (variants.length > 0) return sampleValue(asObject(variants[0]), prompt, name)
  switch (typeOf(schema)) {
    case 'object': {
      const properties = Object.entries(asObject(schema['properties']))
      return Object.fromEntries(properties.map(([key, inner]) => [key, sampleValue(asObject(inner), prompt, key)]))
    }
    case 'array':
      return [sampleValue(asObject(schema['items']), prompt, name)]
    case 'number':
    case 'integer':
      return sampleNumber(name, prompt)
    case 'boolean':
      return true
    default:
      return sampleText(name, prompt)
  }
}
