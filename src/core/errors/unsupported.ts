import type { ErrorRows } from './row.ts'

const text = { kind: 'invalid', status: 400, wire: 'invalid_text_request' } as const
const image = { kind: 'invalid', status: 400, wire: 'invalid_image_request' } as const

/** What a channel cannot take: another one is tried, and the log says why this one was passed over. */
export const unsupportedErrors = {
  'unsupported.field': {
    kind: 'invalid',
    message: '该模型不支持 {field}',
    status: 400,
    wire: 'convert_request_failed',
  },
  'unsupported.thread': {
    kind: 'invalid',
    message: '该模型不支持 thread，请发送完整的对话',
    status: 400,
    wire: 'thread_unsupported_request',
  },
  'unsupported.answers': { ...text, message: '该模型不支持大于 1 的 n' },
  'unsupported.streamed_answers': { ...text, message: '该模型在流式输出时不支持大于 1 的 n' },
  'unsupported.image_count': { ...text, message: '该模型的一条消息最多包含 {most} 张图片' },
  'unsupported.image_type': { ...text, message: '该模型不支持 {type} 类型的图片' },
  'unsupported.image_address': { ...text, message: '该模型的图片必须以数据形式提供' },
  'unsupported.image_id': { ...text, message: '该模型不支持以文件编号提供图片' },
  'unsupported.audio': { ...text, message: '该模型不支持音频输入' },
  'unsupported.audio_address': { ...text, message: '该模型的音频必须以数据形式提供' },
  'unsupported.video': { ...text, message: '该模型不支持视频输入' },
  'unsupported.files': { ...text, message: '该模型不支持文件输入' },
  'unsupported.file_type': { ...text, message: '该模型不支持 {type} 类型的文件' },
  'unsupported.file_address': { ...text, message: '该模型的文件必须以数据形式提供' },
  'unsupported.file_id': { ...text, message: '该模型不支持以文件编号提供图片、音频和文件' },
  'unsupported.token_prompt': { ...text, message: '该模型不支持以 token 列表作为提示词' },
  'unsupported.token_input': {
    kind: 'invalid',
    message: '该模型只接受文本，不接受 token 列表',
    status: 400,
    wire: 'invalid_embedding_request',
  },
  'unsupported.ranked_media': { ...text, message: '该模型只能对文本文档排序', wire: 'invalid_documents' },
  'unsupported.image_edits': { ...image, message: '该模型不支持编辑图片' },
  'unsupported.mask': { ...image, message: '该模型不支持 mask' },
  'unsupported.edited_images': { ...image, message: '该模型一次最多编辑 {most} 张图片' },
  'unsupported.live_search': { ...text, message: '此接口不支持实时搜索，请使用 responses 接口' },
  'unsupported.no_library': { ...text, message: '渠道没有填写知识库 ID' },
  'unsupported.no_bot': { ...text, message: '渠道没有填写智能体 ID' },
  'unsupported.plain_key': { ...text, message: '普通密钥只能调用厂商自己的模型' },
} as const satisfies ErrorRows
