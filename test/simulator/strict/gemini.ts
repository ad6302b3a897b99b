import { camelled, checkFields } from '../fields.ts'
import { asList, asNumber, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'
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

/** What a part says beside its content. */
const attributes = words('thought thoughtSignature videoMetadata mediaResolution partMetadata')

/**
 * "Must start with a letter or an underscore. Must be alphameric, underscores, dots, colons, or dashes, with a maximum length of 64.":
 * https://github.com/google-gemini/gemini-cli/issues/2966; the reference says 128 by now, which no answer of the vendor confirms.
 */
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
    // "contents[33].parts[0].data: required oneof field 'data' must have one initialized field": https://github.com/boldsoftware/sketch/issues/68
    if (!Object.keys(part).some((name) => !attributes.includes(name)))
      refuse(
        "* GenerateContentRequest.contents.parts.data: required oneof field 'data' must have one initialized field\n",
      )
    // "Unsupported MIME type: image/jpg": https://github.com/CherryHQ/cherry-studio/issues/3088
    if (camelled(part['inlineData'])['mimeType'] === 'image/jpg') refuse('Unsupported MIME type: image/jpg')
    for (const name of ['functionCall', 'functionResponse'])
      if (part[name] !== undefined) checkName(asObject(part[name])['name'], `contents.parts.${name}`)
    const signature = part['thoughtSignature']
    if (signature !== undefined && signature !== 'skip_thought_signature_validator' && !isBase64(asText(signature)))
      refuse("Invalid value at 'contents.parts.thought_signature' (TYPE_BYTES), Base64 decoding failed")
  }
}

const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && text.replaceAll('=', '').length % 4 !== 1

const generationOf = (model: string): number => Number(/gemini-(\d+(\.\d+)?)/.exec(model)?.[1] ?? 0)

/**
 * "Function calling with a response mime type: 'application/json' is unsupported": https://github.com/googleapis/python-genai/issues/867;
 * from the third generation on they go together: https://ai.google.dev/gemini-api/docs/gemini-3, "Structured outputs with tools".
 */
function checkFormatBesideTools(body: Json, config: Json, model: string): void {
  if (config['responseMimeType'] !== 'application/json' || generationOf(model) >= 3) return
  const tools = asObjects(body['tools']).map(camelled)
  if (tools.some((tool) => asList(tool['functionDeclarations']).length > 0))
    refuse("Function calling with a response mime type: 'application/json' is unsupported")
  if (tools.length > 0) refuse("Tool use with a response mime type: 'application/json' is unsupported")
}

/** "… value of 655360 but the supported range is from 1 (inclusive) to 8193 (exclusive)": https://github.com/stackblitz-labs/bolt.diy/issues/955 */
function checkLimit(config: Json, model: string): void {
  const most = generationOf(model) >= 2.5 ? 65_536 : 8192
  const limit = asNumber(config['maxOutputTokens'])
  if (generationOf(model) > 0 && limit !== undefined && (limit < 1 || limit > most))
    refuse(
      `Unable to submit request because it has a maxOutputTokens value of ${limit} but the supported range is from 1 (inclusive) to ${most + 1} (exclusive). Update the value and try again.`,
    )
}

/** https://ai.google.dev/api/generate-content, `stopSequences`: "up to 5"; `allowedFunctionNames`: "should match [FunctionDeclaration.name]", mode ANY. */
function checkConfig(body: Json, config: Json): void {
  if (asList(config['stopSequences']).length > 5) refuse('stop_sequences: at most 5')
  const choice = camelled(camelled(body['toolConfig'])['functionCallingConfig'])
  const declared = asObjects(body['tools'])
    .flatMap((tool) => asObjects(camelled(tool)['functionDeclarations']))
    .map((each) => each['name'])
  const odd = asList(choice['allowedFunctionNames']).find((name) => !declared.includes(name))
  if (odd !== undefined)
    refuse(`Function calling config is set with allowed_function_names that is not declared: ${asText(odd)}`)
}

const isCall = (part: Json) => part['functionCall'] !== undefined

/**
 * "Function call is missing a thought_signature in functionCall parts": https://ai.google.dev/gemini-api/docs/thought-signatures; the first call
 * of each step of the present turn, from the third generation on.
 */
function checkProofs(contents: Json[], model: string): void {
  if (generationOf(model) < 3) return
  const parts = contents.map((content) => asObjects(content['parts']).map(camelled))
  const asks = (index: number) =>
    contents[index]?.['role'] !== 'model' && parts[index]?.some((part) => asText(part['text']).trim() !== '') === true
  const begin = contents.findLastIndex((_, index) => asks(index))
  for (const [index, each] of parts.entries()) {
    const first = contents[index]?.['role'] === 'model' && index > begin ? each.find(isCall) : undefined
    if (first && first['thoughtSignature'] === undefined)
      refuse(
        `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${asText(asObject(first['functionCall'])['name'])}\` , position ${index + 1}.`,
      )
  }
}

/**
 * "Image part is missing a thought_signature in content position 2, part position 1": https://github.com/langchain-ai/langchain-google/issues/1431;
 * "Text part is missing …": https://github.com/lobehub/lobehub/issues/10404, of what comes first in an answer of a model that draws.
 */
function checkDrawnProofs(contents: Json[], model: string): void {
  if (generationOf(model) < 3 || !model.includes('image')) return
  for (const [index, content] of contents.entries()) {
    if (content['role'] !== 'model') continue
    const parts = asObjects(content['parts']).map(camelled)
    const first = parts.findIndex((part) => part['thought'] !== true)
    for (const [place, part] of parts.entries()) {
      const isImage = asText(camelled(part['inlineData'])['mimeType']).startsWith('image/')
      if ((isImage || place === first) && part['thoughtSignature'] === undefined)
        refuse(
          `${isImage ? 'Image' : 'Text'} part is missing a thought_signature in content position ${index + 1}, part position ${place + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures#model-behavior for more details.`,
        )
    }
  }
}

/** https://github.com/google-gemini/cookbook/issues/1290: any value but 0, from 2.5 on. */
function checkPenalties(config: Json, model: string): void {
  const isAsked = ['presencePenalty', 'frequencyPenalty'].some((name) => (asNumber(config[name]) ?? 0) !== 0)
  if (isAsked && generationOf(model) >= 2.5) refuse('Penalty is not enabled for this model')
}

/** "Please ensure that function call turn comes immediately after a user turn or after a function response turn.": https://github.com/anomalyco/opencode/issues/2241 */
function checkTurns(contents: Json[]): void {
  for (const [index, content] of contents.entries()) {
    const calls = asObjects(content['parts']).map(camelled).some(isCall)
    if (calls && (index === 0 || contents[index - 1]?.['role'] === 'model'))
      refuse(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
  }
}

export function checkGenerate(given: Json, { model }: { model: string }): void {
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
  const contents = asObjects(body['contents'])
  for (const content of contents) checkParts(content)
  checkTurns(contents)
  checkProofs(contents, model)
  checkDrawnProofs(contents, model)
  checkConfig(body, config)
  checkPenalties(config, model)
  checkLimit(config, model)
  checkFormatBesideTools(body, config, model)
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
