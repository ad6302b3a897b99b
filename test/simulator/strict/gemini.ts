import { checkFields } from '../fields.ts'
import { asList, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'
import { checkGoogleSchema } from './schemas.ts'

const words = (text: string): string[] => text.split(' ')

/** https://ai.google.dev/api/generate-content; every name may be written in snake_case too, as its JSON reader takes both. */
const generateFields = words(
  'contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent labels serviceTier store',
)
const generationFields = words(
  'stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution',
)
const partFields = words(
  'text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode codeExecutionResult videoMetadata mediaResolution partMetadata toolCall toolResponse',
)

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The fields of a message of Google's under their one name. */
export const camelled = (given: unknown): Json =>
  Object.fromEntries(Object.entries(asObject(given)).map(([name, value]) => [camel(name), value]))

/** "Must start with a letter or an underscore. Must be alphameric, underscores, dots, colons, or dashes, with a maximum length of 64." */
function checkName(value: unknown, place: string): void {
  if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(asText(value)))
    refuse(
      `* GenerateContentRequest.${place}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`,
    )
}

function checkParts(content: Json): void {
  checkFields(content, ['role', 'parts'], 'contents.')
  if (asList(content['parts']).length === 0) refuse('* GenerateContentRequest.contents.parts: must not be empty\n')
  for (const given of asObjects(content['parts'])) {
    const part = camelled(given)
    checkFields(part, partFields, 'contents.parts.')
    for (const name of ['functionCall', 'functionResponse'])
      if (part[name] !== undefined) checkName(asObject(part[name])['name'], `contents.parts.${name}`)
    const signature = part['thoughtSignature']
    if (signature !== undefined && signature !== 'skip_thought_signature_validator' && !isBase64(asText(signature)))
      refuse("Invalid value at 'contents.parts.thought_signature' (TYPE_BYTES), Base64 decoding failed")
  }
}

const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && text.replaceAll('=', '').length % 4 !== 1

export function checkGenerate(given: Json): void {
  const body = camelled(given)
  checkFields(body, generateFields)
  const config = camelled(body['generationConfig'])
  checkFields(config, generationFields, 'generation_config.')
  checkFields(
    camelled(config['thinkingConfig']),
    words('includeThoughts thinkingBudget thinkingLevel'),
    'thinking_config.',
  )
  if (config['responseSchema'] !== undefined && config['responseJsonSchema'] !== undefined)
    refuse('Only one of response_schema and response_json_schema may be set.')
  checkGoogleSchema(config['responseSchema'], 'response_schema')
  for (const content of asObjects(body['contents'])) checkParts(content)
  for (const tool of asObjects(body['tools']).map(camelled)) {
    for (const each of asObjects(tool['functionDeclarations']).map(camelled)) {
      checkFields(
        each,
        words('name description parameters parametersJsonSchema response responseJsonSchema behavior'),
        'tools.',
      )
      checkName(each['name'], 'tools.function_declarations')
      if (each['parameters'] !== undefined && each['parametersJsonSchema'] !== undefined)
        refuse('Only one of parameters and parameters_json_schema may be set.')
      checkGoogleSchema(each['parameters'], 'parameters')
    }
  }
}
