import type { PlainText } from '../../i18n/t.ts'
import { t, text } from '../../i18n/t.ts'

const words: Readonly<Record<string, PlainText>> = {
  audio: text('音频内容'),
  best_of: text('多次生成取最佳'),
  cache_control: text('提示缓存的标记'),
  citations: text('引用来源'),
  'document.context': text('文件的背景说明'),
  echo: text('在答复中重复提示'),
  frequency_penalty: text('频率惩罚'),
  image: text('图片内容'),
  'input.content': text('部分输入内容'),
  'input.output': text('部分工具结果'),
  logit_bias: text('词元偏置'),
  logprobs: text('词元概率'),
  metadata: text('请求的元数据'),
  'messages.content': text('部分消息内容'),
  'messages.system.content': text('系统提示中的非文字内容'),
  'messages.tool.content': text('工具结果中的非文字内容'),
  parallel_tool_calls: text('是否并行调用工具'),
  presence_penalty: text('存在惩罚'),
  'reasoning.signature': text('先前思考的签名'),
  reasoning_content: text('先前的思考内容'),
  reasoning_effort: text('思考强度'),
  response_format: text('答复的格式要求'),
  search_result: text('搜索结果内容'),
  seed: text('随机种子'),
  service_tier: text('服务等级'),
  stop: text('部分停止词'),
  store: text('在上游保存答复'),
  suffix: text('后缀文字'),
  'system.content': text('系统提示中的非文字内容'),
  temperature: text('温度'),
  thinking: text('思考设置'),
  tool_choice: text('工具选择方式'),
  'tool_result.content': text('工具结果中的非文字内容'),
  tools: text('部分工具设置'),
  top_k: text('候选词数'),
  top_logprobs: text('词元概率'),
  top_p: text('核采样'),
  user: text('用户标识'),
  verbosity: text('答复详略'),
  videoMetadata: text('视频的起止设置'),
  web_search: text('联网搜索'),
}

/** What got lost, for people; a field that has no words here is called a field. */
export function lossText(name: string): string {
  const known = words[name]
  if (known) return t(known)
  return name.startsWith('tools.') ? t('工具 {name}', { name: name.slice(6) }) : t('参数 {name}', { name })
}
