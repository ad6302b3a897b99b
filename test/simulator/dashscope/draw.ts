import { asNumber, asObject, asObjects, asText, Refusal } from '../prompt.ts'
import { json, type Call, type PlainOperation, type Vendor } from '../types.ts'

/** The vendor's own surface: https://help.aliyun.com/en/model-studio/qwen-image-api */
export const dashscope: Vendor = {
  id: 'dashscope',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'No API-key provided.', code: 'InvalidApiKey' },
  badKey: { status: 401, message: 'Invalid API-key provided.', code: 'InvalidApiKey' },
  error: ({ message, code }) => ({ body: { code: code ?? 'InternalError', message, request_id: 'sim' } }),
  streamError: ({ message, code }) => ({ data: JSON.stringify({ code: code ?? 'InternalError', message }) }),
}

export const drawPattern = /^\/api\/v1\/services\/aigc\/multimodal-generation\/generation$/

const refuse = (message: string): never => {
  throw new Refusal({ status: 400, message, code: 'InvalidParameter' })
}

const served = /^(qwen-image|z-image|wan(2\.[6-9]|[3-9]))/
const shapes = '1664*928,1472*1104,1328*1328,1104*1472,928*1664'

/** https://help.aliyun.com/en/model-studio/text-to-image-v2-api-reference: "Total pixels between 1280×1280 and 1440×1440" */
function checkSize(model: string, size: string): void {
  if (/^qwen-image(-(plus|max))?$/.test(model) && !shapes.split(',').includes(size))
    refuse(`The size does not match the allowed size ${shapes}.`)
  const [width = 0, height = 0] = size.split('*').map(Number)
  const pixels = width * height
  if (model.startsWith('wan2.6-t2i') && (pixels < 1280 * 1280 || pixels > 1440 * 1440))
    refuse('total pixels must be between 1280*1280 and 1440*1440')
}

function textsOf({ body }: Call): string[] {
  const messages = asObjects(asObject(body['input'])['messages'])
  return messages.flatMap((message) => asObjects(message['content']).flatMap((part) => asText(part['text']) || []))
}

/** Models that draw while the caller waits; earlier ones have an address of their own. */
export const drawAtOnce: PlainOperation = {
  type: 'plain',
  reply: (call) => {
    const model = asText(call.body['model'])
    const parameters = asObject(call.body['parameters'])
    if (!served.test(model)) refuse('url error, please check url！')
    if (textsOf(call).length === 0) refuse('Field required: input.messages.0.content')
    if (parameters['size'] !== undefined) checkSize(model, asText(parameters['size']))
    const image = `http://${call.headers.host ?? ''}/media/pixel.png`
    // https://help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference, `n`: four by default.
    const usual = model.startsWith('wan') ? 4 : 1
    const choices = Array.from({ length: asNumber(parameters['n']) ?? usual }, () => ({
      finish_reason: 'stop',
      message: { role: 'assistant', content: [{ image }] },
    }))
    return json({ output: { choices }, usage: { image_count: choices.length }, request_id: 'sim' })
  },
}
