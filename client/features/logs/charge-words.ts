import type { ChargeStep } from '#core/pricing/charge.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import type { PlainText } from '../../i18n/t.ts'
import { text } from '../../i18n/t.ts'

export const stepWords: Record<ChargeStep['label'], PlainText> = {
  input: text('输入'),
  cacheRead: text('读取缓存'),
  cacheWrite: text('写入缓存'),
  cacheWrite1h: text('写入缓存（较长时效）'),
  imageInput: text('图片输入'),
  audioInput: text('音频输入'),
  output: text('输出'),
  audioOutput: text('音频输出'),
  imageOutput: text('图片输出'),
  call: text('按次'),
  image: text('生成图片'),
  task: text('任务'),
  webSearch: text('联网搜索'),
  fileSearch: text('文件搜索'),
  codeInterpreter: text('代码解释器'),
  imageGeneration: text('生成图片'),
  rounding: text('取整'),
  minimum: text('最低收费'),
}

export const unitWords: Record<ChargeStep['unit'], PlainText> = {
  token: text('Token'),
  character: text('字符'),
  call: text('次'),
  image: text('张'),
  quota: text('额度'),
}

export const perWords: Record<ChargeStep['per'], PlainText> = {
  1: text('每个'),
  1000: text('每千'),
  1000000: text('每百万'),
}

export const ratioWords: Record<ChargeStep['ratios'][number]['name'], PlainText> = {
  model: text('模型倍率'),
  completion: text('补全倍率'),
  cache: text('缓存倍率'),
  cacheWrite: text('缓存写入倍率'),
  image: text('图片倍率'),
  audio: text('音频倍率'),
  audioCompletion: text('音频补全倍率'),
  imageOutput: text('图片输出倍率'),
  size: text('尺寸倍率'),
  quality: text('质量倍率'),
  longContext: text('长上下文倍率'),
  batch: text('批量倍率'),
  group: text('分组倍率'),
}

export const formulas: Record<Receipt['formula'], PlainText> = {
  text: text('各项相加，四舍五入到整数额度。单价未乘分组倍率。'),
  audio: text('文字与音频分别计价，相加后四舍五入到整数额度。单价未乘分组倍率。'),
  claude: text('各项相加，按倍率计价时向下取整到整数额度。单价未乘分组倍率。'),
  image: text('按张计价，向下取整到整数额度。单价未乘分组倍率。'),
  task: text('按次计价，向下取整到整数额度。单价未乘分组倍率。'),
  batch: text('批量内的请求相加，向下取整到整数额度。单价未乘分组倍率。'),
}
